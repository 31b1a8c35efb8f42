// Finds the venue or organizer that a create uses instead of creating another: `{ venue: 'hall' }` uses the Hall in
// Bonn, `{ venue: 'Hall', city: 'Kiel' }` does not.

import { copiedFields } from '../interface/fields.ts';
import { FIRST_EMBEDDED_ID, type LinkedKind, type LinkedRecord } from '../model/records.ts';
import type { VisibleRecords } from '../store/database.ts';
import { listLinked } from '../store/lists.ts';
import { getRecord } from '../store/records.ts';
import { decodeEntities, htmlText, undoTypography } from '../text/html.ts';
import { utcToWall, zoneOrUtc } from '../time/zones.ts';
import { unpublishedScopes, writableMapping } from './request.ts';
import type { Services } from './services.ts';
import type { PostWrite } from './write-post.ts';

type Fields = Readonly<Record<string, unknown>>;

const MAX_CANDIDATES = 200;
/** The search ends after this much of titles and descriptions of candidates, as if there were no duplicate. */
const MAX_COMPARED_CHARACTERS = 400_000;

/** Sent and rendered text compare equal: `It's  <b>Jazz</b>` and `It&#8217;s Jazz` both give `it's jazz`. */
export function comparableText(html: string): string {
  const text = undoTypography(decodeEntities(htmlText(html)));
  return text.replace(/-{2,}/g, '-').replace(/\s+/g, ' ').trim().toLowerCase();
}

/**
 * The lowest id of a record with the same title that differs in no sent field that a new one would get. Never a
 * protected record, which no search finds: guesses would reveal what its password hides.
 * @param fields what a new record would get
 */
export async function findDuplicate(
  { kind, input: { byProperty }, request }: PostWrite<LinkedKind>,
  fields: Fields,
): Promise<LinkedRecord | undefined> {
  const name = comparableText(String(byProperty.title));
  // A search for one word of the title finds the candidates, which `isSame` compares.
  const longestWord = (name.match(/[\p{L}\p{N}]+/gu) ?? []).sort((a, b) => b.length - a.length)[0];
  if (!longestWord) return undefined;
  const { services } = request;
  const { replica, unpublishedRecords } = services;
  const isSame = (record: LinkedRecord) =>
    comparableText(record.title) === name && !differs(services, record, byProperty, fields);
  // The CMS may make `future` of `publish` with a date. Then, and for a draft, the new record may be the same as an
  // earlier unpublished one that the actor may see.
  const isPublishedNow = fields.status === 'publish' && (fields.date ?? fields.dateUtc) === undefined;
  const scopes = isPublishedNow ? {} : await unpublishedScopes(services, [kind], request);
  const find = (visible: VisibleRecords) => findSame(visible, kind, longestWord, isSame);
  if (Object.keys(scopes).length === 0) return find(replica.db);
  return unpublishedRecords.use(request, scopes, async ({ records }) => find(records));
}

function findSame(
  visible: VisibleRecords,
  kind: LinkedKind,
  word: string,
  isSame: (record: LinkedRecord) => boolean,
): LinkedRecord | undefined {
  const { ids } = listLinked(visible, kind, { words: [{ text: word, not: false }], limit: MAX_CANDIDATES, offset: 0 });
  let remaining = MAX_COMPARED_CHARACTERS;
  for (const id of ids.toSorted((a, b) => a - b)) {
    const record = getRecord(visible, kind, id);
    // Nobody can link a venue that is text in an event, or a record of a source.
    if (!record || id >= FIRST_EMBEDDED_ID) continue;
    remaining -= record.title.length + record.description.length;
    if (remaining < 0) return undefined;
    if (record.status !== 'trash' && isSame(record)) return record;
  }
  return undefined;
}

/**
 * Whether the record differs from `fields`, what a new one would get, in a sent field besides its title. Of statuses:
 *
 *   sent                                the record has       differs
 *   nothing, or the mapping has none    any                  no
 *   trash                               any                  yes: no record in the trash is used again
 *   publish, by a contributor           pending              no: `fields` has `pending`
 *   publish, of a day to come           future               no: so the CMS stores it
 *   any other                           another one          yes
 */
function differs(services: Services, record: LinkedRecord, sent: Fields, fields: Fields): boolean {
  // A new record would not have what the mapping cannot write either.
  const writable: ReadonlySet<string> = writableMapping(services, record.kind).writable;
  const stored: Record<string, unknown> = { ...record };
  const isDifferent = (name: string) => writable.has(name) && sent[name] !== undefined && fields[name] !== stored[name];
  if (copiedFields(record.kind).some(([, { property }]) => isDifferent(property)) || isDifferent('author')) return true;
  if (fields.image && fields.image !== record.image) return true;
  // Of those that can be written (`writtenCustomFields`). `false` is the same as no value.
  const customFields = Object.entries((fields.customFields as LinkedRecord['customFields']) ?? {});
  if (customFields.some(([name, value]) => (value || '') !== (record.customFields?.[name] || ''))) return true;
  const description = writable.has('description') ? String(fields.description ?? '') : '';
  if (description !== '' && comparableText(description) !== comparableText(record.description)) return true;
  const date =
    fields.date ?? (fields.dateUtc && utcToWall(String(fields.dateUtc), zoneOrUtc(services.site().timezone)));
  if (date !== undefined && writable.has('date') && date !== record.date) return true;
  if (sent.status === undefined || !writable.has('status')) return false;
  if (sent.status === 'trash') return true;
  const isSameStatus = [sent.status, fields.status].includes(record.status);
  const isScheduled = date !== undefined && fields.status === 'publish' && record.status === 'future';
  return !isSameStatus && !isScheduled;
}
