// Makes records of an event of a source, its venue, organizers, terms and image, under ids that all gateways share.

import { hash } from 'node:crypto';
import type { SourceEvent, SourceOrganizer, SourceVenue } from '../../cms/sources/source.ts';
import { emptyRecord } from '../../interface/fields.ts';
import { searchTextOf, setListedTimes } from '../../mapping/read-record.ts';
import {
  type CalendarRecord,
  type EventRecord,
  FIRST_SOURCE_ID,
  type ImageRecord,
  KINDS,
  type KindOrImage,
  type LinkedKind,
  NO_TIME,
  NO_WEBSITE,
  type Site,
  type TermKind,
  type TermRecord,
} from '../../model/records.ts';
import type { Database } from '../../store/database.ts';
import { termIdByName, termIdBySlug } from '../../store/records.ts';
import type { SourceRow } from '../../store/source-events.ts';
import { escapeMarkup, foldName } from '../../text/html.ts';
import { fold, slugOf } from '../../text/text.ts';
import { utcToWall, zoneOrUtc } from '../../time/zones.ts';

const ID_KINDS: readonly KindOrImage[] = [...KINDS, 'image'];
const IDS_OF_KIND = 2 ** 48;

/**
 * The id of what these texts name, the same at every gateway: one of 2 ** 48 of its kind. Two events of a source may
 * get one id: then only the first of the pass is shown. With 100,000 events the chance of that is 1 in 50,000.
 */
export const derivedId = (kind: KindOrImage, ...names: readonly string[]): number =>
  FIRST_SOURCE_ID +
  ID_KINDS.indexOf(kind) * IDS_OF_KIND +
  hash('sha256', JSON.stringify([kind, ...names]), 'buffer').readUIntBE(0, 6);

/** Makes the records of one pass over all sources. Each record that several events share is made once. */
export class SourceRecords {
  readonly #db: Database;
  readonly #site: Site;
  readonly #terms = new Map<string, number>();
  readonly #upserts: CalendarRecord[] = [];
  readonly #images: ImageRecord[] = [];
  /** The ids of all records and images that this pass has made. */
  readonly #made = new Set<number>();

  constructor(db: Database, site: Site) {
    this.#db = db;
    this.#site = site;
  }

  /** What was made since the last call. An event comes after what it links to. */
  take(): { upserts: CalendarRecord[]; images: ImageRecord[] } {
    return { upserts: this.#upserts.splice(0), images: this.#images.splice(0) };
  }

  /** @param always names of categories that the settings give to each event of the source */
  add({ source, ownId: id, noticed, eventJson }: SourceRow, always: readonly string[]): void {
    if (!this.#isFirst(id)) return;
    const event = JSON.parse(eventJson) as SourceEvent;
    // `shared` is stored as the source has it. What the record has in another form, or not at all, is taken out.
    const { key, uid, createdUtc, modifiedUtc, image, venue, organizers, categories, tags = [], ...shared } = event;
    const names = [...always.map(escapeMarkup), ...categories];
    const fields: Partial<EventRecord> = {
      ...shared,
      ...recordTimesOf(event, noticed, this.#site),
      slug: slugFor(event.title, id),
      image: image ? this.#imageOf(source, image) : 0,
      // Without a text here, responses would show the page of the event as its website.
      website: event.website || NO_WEBSITE,
      categories: this.#termsOf('category', names),
      tags: this.#termsOf('tag', tags),
      venues: venue ? [this.#linkedOf('venue', source, venue)] : [],
      organizers: organizers.map((each) => this.#linkedOf('organizer', source, each)),
    };
    // The empty record has each property of an event, which its type does not tell: `status` too, which is `publish`.
    const record = { ...emptyRecord('event', id), ...fields } as unknown as EventRecord;
    setListedTimes(record, this.#site);
    record.searchText = searchTextOf('event', { ...record });
    this.#upserts.push(record);
  }

  /** True for the first call with this id: its record is to be made now. */
  #isFirst(id: number): boolean {
    const isFirst = !this.#made.has(id);
    this.#made.add(id);
    return isFirst;
  }

  /** One name at two addresses is two venues. The first event that names a venue says what is shown of it. */
  #linkedOf(kind: LinkedKind, source: string, said: SourceVenue | SourceOrganizer): number {
    const { name: title, ...fields } = said;
    const address = isVenue(said) ? fold(said.address) : '';
    const id = derivedId(kind, source, foldName(title), address);
    if (!this.#isFirst(id)) return id;
    const region = isVenue(said) ? { stateprovince: said.state || said.province || '' } : {};
    const named = { title, slug: slugFor(title, id) };
    const record = { ...emptyRecord(kind, id), ...fields, ...region, ...named, ...NO_RECORD_TIMES };
    this.#upserts.push({ ...record, searchText: searchTextOf(kind, record) } as unknown as CalendarRecord);
    return id;
  }

  /** The CMS's term of this name or slug; else one that all sources share, with the name as the first one writes it. */
  #termsOf(kind: TermKind, names: readonly string[]): number[] {
    const ids = names.flatMap((name) => {
      const key = foldName(name);
      if (key === '') return [];
      const known = this.#terms.get(`${kind} ${key}`);
      if (known !== undefined) return [known];
      const ofCms = this.#cmsTerm(kind, name);
      const id = ofCms ?? derivedId(kind, key);
      if (ofCms === undefined && this.#isFirst(id)) this.#upserts.push(newTerm(kind, id, name));
      this.#terms.set(`${kind} ${key}`, id);
      return [id];
    });
    return [...new Set(ids)];
  }

  #cmsTerm(kind: TermKind, name: string): number | undefined {
    const slug = slugOf(name);
    const found = [termIdByName(this.#db, kind, name), slug === '' ? undefined : termIdBySlug(this.#db, kind, slug)];
    return found.find((id) => id !== undefined && id < FIRST_SOURCE_ID);
  }

  /** Each source has a record of its own for an address: one may say how large the image is, and another not. */
  #imageOf(source: string, image: NonNullable<SourceEvent['image']>): number {
    const { url, width, height } = image;
    const id = derivedId('image', source, url);
    const extension = /\.([a-z]{3,4})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? '';
    if (this.#isFirst(id)) this.#images.push({ id, url, extension, width, height, filesizeBytes: 0, sizes: {} });
    return id;
  }
}

const isVenue = (said: SourceVenue | SourceOrganizer): said is SourceVenue => 'address' in said;

const NO_RECORD_TIMES = { date: NO_TIME, dateUtc: NO_TIME, modified: NO_TIME, modifiedUtc: NO_TIME };

function newTerm(kind: TermKind, id: number, name: string): TermRecord {
  return { kind, id, name, slug: slugOf(name) || `${kind}-${id.toString(36)}`, description: '', parent: 0, url: '' };
}

/** Always with a suffix: whether the CMS or another source has the slug differs from hour to hour. */
const slugFor = (title: string, id: number): string => `${slugOf(title).slice(0, 150)}-${id.toString(36)}`;

/** A source that does not say when it changed an event changed it when this gateway noticed. */
function recordTimesOf(event: SourceEvent, noticed: string, site: Site): Partial<EventRecord> {
  const { modifiedUtc = noticed, createdUtc = modifiedUtc } = event;
  const local = (utc: string) => utcToWall(utc, zoneOrUtc(site.timezone));
  return { date: local(createdUtc), dateUtc: createdUtc, modified: local(modifiedUtc), modifiedUtc };
}
