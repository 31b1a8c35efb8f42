// The fake CMS's records as WordPress sends them, and the fields that a write sets.

import type { CmsRecord, CmsView, CollectionSpec, Credentials, Detail } from '../../src/cms/port.ts';
import { DETAIL_FIELDS } from '../../src/cms/wordpress/record-form.ts';
import type { ImageRecord, Site } from '../../src/model/records.ts';
import {
  type FakeMedia,
  type FakePost,
  type FakeRecord,
  type FakeRecords,
  type FakeTerm,
  membersOnlyText,
  TERM_BASES,
} from './fake-records.ts';

/** Who reads a record, and how: members get more of the content than the public, and editors its source. */
export interface Reader {
  credentials?: Credentials;
  view?: CmsView;
  /** Of a protected post. */
  password?: string | undefined;
}

export interface FakeResponses {
  response(record: FakeRecord, reader?: Reader): CmsRecord;
  image(media: FakeMedia): ImageRecord;
}

const gmt = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19);
export const utc = (seconds: number) => gmt(seconds).replace('T', ' ');
const seconds = (time: unknown) => Date.parse(`${String(time).replace(' ', 'T')}Z`) / 1000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far a zone is ahead of UTC at this time, by the time zone data of the runtime. */
function offsetS(timezone: string, atS: number): number {
  const options = { timeZone: timezone, timeZoneName: 'longOffset' } as const;
  const format = formats.get(timezone) ?? new Intl.DateTimeFormat('en', options);
  formats.set(timezone, format);
  const text = format.formatToParts(atS * 1000).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(text) ?? [];
  return sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60;
}

/** The fields of a post that a request body sets. */
export function postFields(body: CmsRecord, site: Site): Partial<FakePost> {
  const fields: CmsRecord = {};
  for (const name of ['title', 'content', 'excerpt', 'slug', 'status', 'author'])
    if (body[name] !== undefined) fields[name] = body[name];
  if (body.featured_media !== undefined) fields.featured = body.featured_media;
  if (body.calendar_occurrences !== undefined) fields.occurrences = body.calendar_occurrences;
  if (body.meta !== undefined) fields.meta = body.meta;
  if (body.date_gmt !== undefined) fields.dateS = seconds(body.date_gmt);
  else if (body.date !== undefined) fields.dateS = seconds(body.date) - offsetS(site.timezone, seconds(body.date));
  const terms = TERM_BASES.filter((base) => body[base] !== undefined).map((base) => [base, body[base]]);
  if (terms.length > 0) fields.terms = Object.fromEntries(terms);
  return fields;
}

/** Creates the function that leaves the requested fields of a record. */
export function fieldSelector(spec: CollectionSpec, detail: Detail | undefined): (cmsRecord: CmsRecord) => CmsRecord {
  if (detail === undefined) return (cmsRecord) => cmsRecord;
  const fields = detail === 'mapped' ? spec.selectedFields : DETAIL_FIELDS[detail];
  const names = new Set(fields.split(',').map((path) => path.split('.', 1)[0]));
  if (names.has('modified_gmt')) names.add('modifiedUtc');
  return (cmsRecord) => Object.fromEntries(Object.entries(cmsRecord).filter(([name]) => names.has(name)));
}

export function createFakeResponses({ posts }: FakeRecords, siteFacts: () => Site): FakeResponses {
  /** Meta keys are registered for a type: every record has all of them. */
  const blanks = new Map<string, CmsRecord>([['events', { start_date: '', end_date: '', venue_ids: [] }]]);
  function metaOf({ base, meta }: FakePost): CmsRecord {
    const blankOf = (key: string) => (key.endsWith('ids') ? [] : typeof meta[key] === 'boolean' ? false : '');
    const known = blanks.get(base) ?? {};
    blanks.set(base, known);
    for (const key of Object.keys(meta)) known[key] ??= blankOf(key);
    return { ...known, ...meta };
  }

  /** The zone of the site is the same for all records of a response. */
  let zone = { timezone: '', offsets: new Map<number, number>() };
  function localTime(atS: number): string {
    const { timezone } = siteFacts();
    if (zone.timezone !== timezone) zone = { timezone, offsets: new Map() };
    const offset = zone.offsets.get(atS) ?? offsetS(timezone, atS);
    zone.offsets.set(atS, offset);
    return gmt(atS + offset);
  }

  function contentOf(post: FakePost, { credentials }: Reader): { rendered: string; raw: string } {
    if (post.content !== undefined) return { rendered: post.content, raw: post.content };
    const secret = membersOnlyText(post);
    return {
      rendered: `<p>${post.title}</p>\n${credentials === undefined ? '' : secret}`,
      raw: `${post.title}\n[members]${secret}[/members]`,
    };
  }

  function postResponse(post: FakePost, reader: Reader): CmsRecord {
    const { title, excerpt = '', password } = post;
    // Only who may edit a post gets the view for editors.
    const isOpen = password === undefined || reader.view === 'editor' || reader.password === password;
    const text = ({ rendered, raw }: { rendered: string; raw: string }) => ({
      ...(reader.view === 'editor' ? { raw } : {}),
      ...{ rendered, protected: false },
    });
    const guarded = (texts: { rendered: string; raw: string }) => ({
      ...(isOpen ? text(texts) : { rendered: '' }),
      protected: password !== undefined,
    });
    return {
      id: post.id,
      status: post.status,
      slug: post.slug,
      author: post.author,
      date: localTime(post.dateS),
      date_gmt: gmt(post.dateS),
      modified: localTime(post.modifiedS),
      modified_gmt: gmt(post.modifiedS),
      modifiedUtc: utc(post.modifiedS),
      link: `${siteFacts().url}/${post.base}/${post.slug}/`,
      title: text({ rendered: title, raw: title }),
      content: guarded(contentOf(post, reader)),
      excerpt: guarded({ rendered: excerpt, raw: excerpt }),
      featured_media: post.featured,
      meta: metaOf(post),
      calendar_occurrences: post.occurrences ?? null,
      ...(post.base === 'events' ? Object.fromEntries(TERM_BASES.map((base) => [base, []])) : {}),
      ...Object.fromEntries(Object.entries(post.terms).map(([base, ids]) => [base, [...ids]])),
    };
  }

  function termResponse({ id, base, name, slug, description, parent }: FakeTerm): CmsRecord {
    const count = [...posts.values()].filter((post) => post.terms[base]?.includes(id)).length;
    return { id, name, slug, parent, description, count, link: `${siteFacts().url}/${base}/${slug}/` };
  }

  return {
    response(record, reader = {}) {
      if ('terms' in record) return postResponse(record, reader);
      if ('name' in record) return termResponse(record);
      return { id: record.id, modified_gmt: gmt(record.modifiedS), modifiedUtc: utc(record.modifiedS) };
    },
    image: ({ id, revision }) => ({
      ...{ id, url: `${siteFacts().url}/${id}-${revision}.jpg`, extension: 'jpg' },
      ...{ width: 10, height: 10, filesizeBytes: 100 + revision, sizes: {} },
    }),
  };
}
