// A venue or organizer that is no record of its own, but text inside an event: read-only, with an id made of the text.

import { createHash } from 'node:crypto';
import { FIRST_INLINE_ID, type LinkedKind, type LinkedRecord, NO_TIME, type Site } from '../records.ts';
import { normalized } from '../text/normalize.ts';
import type { Native } from '../upstream/port.ts';
import { type Access, BadLine, pathOf } from './access.ts';
import { textCodec } from './codecs.ts';
import { FIELDS } from './fields.ts';
import { selectOf, valueAt } from './paths.ts';

/** The record that lies inside an event, or `undefined` when the event names none. */
export type InlineReader = (native: Native, site: Site) => LinkedRecord | undefined;

/** Compiles the line of such a field: `lines` names the paths of the linked record's fields. Throws `BadLine`. */
export function inlineAccess(
  kind: LinkedKind,
  lines: Record<string, string>,
): { access: Access; reader: InlineReader } {
  if (lines[kind] === undefined) throw new BadLine('/inline', `needs the name: "${kind}"`);
  const fields = Object.entries(lines).map(([name, text]) => {
    const info = FIELDS[kind][name];
    if (!info || (info.type !== 'text' && info.type !== 'html'))
      throw new BadLine(`/inline/${name}`, `is no text field of a ${kind}`);
    return { info, path: pathOf(text, `/inline/${name}`) };
  });
  const reader: InlineReader = (native) => {
    const texts = fields.map(({ info, path }) => ({
      info,
      text: String(textCodec.read(valueAt(native, path), { event: '', site: '' }) ?? '').trim(),
    }));
    const name = texts.find(({ info }) => info.key === 'title')?.text ?? '';
    if (name === '') return undefined;
    const digest = createHash('sha256')
      .update(JSON.stringify([kind, texts.map(({ text }) => text)]))
      .digest();
    const record: Record<string, unknown> = { kind, id: FIRST_INLINE_ID + digest.readUIntBE(0, 6) };
    for (const info of Object.values(FIELDS[kind])) record[info.key] = info.empty;
    for (const { info, text } of texts) record[info.key] = text;
    record.slug = `${slugOf(name)}-${digest.toString('hex', 0, 4)}`;
    record.date = record.dateUtc = record.modified = record.modifiedUtc = NO_TIME;
    const searched = texts.filter(({ info }) => info.searched || info.key === 'title' || info.key === 'description');
    record.searchText = searched.map(({ text }) => text).join('\n');
    return record as unknown as LinkedRecord;
  };
  return {
    reader,
    access: {
      read: (native, zones) => {
        const record = reader(native, { url: '', name: '', timezone: zones.site });
        return record ? [record.id] : [];
      },
      select: fields.map(({ path }) => selectOf(path)),
      place: 'inside the event',
      needsZone: false,
      merges: false,
    },
  };
}

function slugOf(name: string): string {
  const plain = normalized(name, 'NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'place';
}
