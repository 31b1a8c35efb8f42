// Embedded venues and organizers: text inside an event instead of a record of their own. They are read-only,
// and their id is a hash of the text.

import { createHash } from 'node:crypto';
import type { CmsRecord } from '../cms/port.ts';
import { FIELDS } from '../interface/fields.ts';
import { SIZES } from '../interface/limits.ts';
import { FIRST_EMBEDDED_ID, type LinkedKind, type LinkedRecord, NO_TIME } from '../model/records.ts';
import { cutHtml, slugOf } from '../text/text.ts';
import { readText } from './codecs/text.ts';
import { type FieldAccessor, MappingFieldError, parsePathOrThrow, selectorOf, valueAt } from './field-accessor.ts';

/** Of each text: twice what a client may write into a line. */
const MAX_CHARACTERS = 2 * SIZES.line.characters;

/** Reads the embedded record of an event. Returns `undefined` if the event names none. */
export type EmbeddedReader = (cmsRecord: CmsRecord) => LinkedRecord | undefined;

/**
 * Compiles `"embedded": { ... }`, which gives the path of each field of the embedded record.
 * @throws MappingFieldError
 */
export function embeddedAccessor(
  kind: LinkedKind,
  pathTexts: Record<string, string>,
): { accessor: FieldAccessor; reader: EmbeddedReader } {
  if (pathTexts[kind] === undefined) throw new MappingFieldError('/embedded', `lacks "${kind}": the path of its name`);
  const fields = Object.entries(pathTexts).map(([name, text]) => {
    const field = FIELDS[kind][name];
    if (!field || (field.type !== 'text' && field.type !== 'html'))
      throw new MappingFieldError(`/embedded/${name}`, `is no text field of a ${kind}`);
    return { field, path: parsePathOrThrow(text, `/embedded/${name}`) };
  });
  const reader: EmbeddedReader = (cmsRecord) => {
    const values = fields.map(({ field, path }) => ({
      field,
      text: cutHtml((readText(valueAt(cmsRecord, path)) ?? '').trim(), MAX_CHARACTERS),
    }));
    const name = values.find(({ field }) => field.key === 'title')?.text ?? '';
    if (name === '') return undefined;
    const texts = values.map(({ text }) => text);
    const digest = createHash('sha256')
      .update(JSON.stringify([kind, texts]))
      .digest();
    const record: Record<string, unknown> = { kind, id: FIRST_EMBEDDED_ID + digest.readUIntBE(0, 6) };
    for (const field of Object.values(FIELDS[kind])) record[field.key] = field.empty;
    for (const { field, text } of values) record[field.key] = text;
    record.slug = `${slugOf(name) || kind}-${digest.toString('hex', 0, 4)}`;
    record.date = record.dateUtc = record.modified = record.modifiedUtc = NO_TIME;
    const searched = values.filter(
      ({ field }) => field.searched || field.key === 'title' || field.key === 'description',
    );
    record.searchText = searched.map(({ text }) => text).join('\n');
    // The field table has a row for each property of the type.
    return record as unknown as LinkedRecord;
  };
  const accessor: FieldAccessor = {
    read: (cmsRecord) => {
      const record = reader(cmsRecord);
      return record ? [record.id] : [];
    },
    selectedPaths: fields.map(({ path }) => selectorOf(path)),
    writtenPaths: [],
  };
  return { accessor, reader };
}
