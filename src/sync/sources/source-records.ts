// Makes records of the replica of what sources say: an event with its venue, organizers, terms and image, under ids
// that every gateway derives alike.

import { createHash } from 'node:crypto';
import type { SourceEvent, SourceOrganizer, SourceVenue } from '../../cms/sources/source.ts';
import { FIELDS } from '../../interface/fields.ts';
import { searchTextOf, setListedTimes } from '../../mapping/convert-record.ts';
import {
  type CalendarRecord,
  type EventRecord,
  FIRST_SOURCE_ID,
  type ImageRecord,
  type Kind,
  type LinkedKind,
  NO_TIME,
  NO_WEBSITE,
  type Site,
  type TermKind,
  type TermRecord,
  type VenueRecord,
} from '../../model/records.ts';
import type { Database } from '../../store/database.ts';
import { getRecord, termIdByName, termIdBySlug } from '../../store/records.ts';
import { escapeMarkup, foldName } from '../../text/html.ts';
import { fold, slugOf } from '../../text/text.ts';
import { siteZone, utcToWall } from '../../time/zones.ts';

export interface EventToMake {
  source: string;
  /** Of the settings: names that every event of the source gets. */
  categories: readonly string[];
  id: number;
  event: SourceEvent;
  /** When this gateway noticed what the source says now, in UTC. */
  noticed: string;
}

/** The id of what these texts name, at every gateway: one of 2 ** 48. */
export const idOf = (...names: readonly string[]): number =>
  FIRST_SOURCE_ID + createHash('sha256').update(JSON.stringify(names)).digest().readUIntBE(0, 6);

/** Makes the records of one pass over sources. Each record that several events share is made once. */
export class SourceRecords {
  readonly #db: Database;
  readonly #site: Site;
  readonly #isFull: boolean;
  readonly #terms = new Map<string, number>();
  readonly #made = new Set<number>();

  /** @param isFull the pass begins with the first source, and leaves out none */
  constructor(db: Database, site: Site, isFull: boolean) {
    this.#db = db;
    this.#site = site;
    this.#isFull = isFull;
  }

  /** The event is the last of the records. */
  recordsOf({ source, categories, id, event, noticed }: EventToMake): {
    upserts: CalendarRecord[];
    images: ImageRecord[];
  } {
    const upserts: CalendarRecord[] = [];
    const images: ImageRecord[] = [];
    const names = [...categories.map(escapeMarkup), ...event.categories];
    const { key, uid, createdUtc, modifiedUtc, image, venue, organizers, tags = [], ...said } = event;
    const record = Object.assign(emptyRecord('event', id), said, {
      ...timesOf(event, noticed, this.#site),
      slug: slugFor(event.title, id),
      image: image ? this.#imageOf(source, image, images) : 0,
      // Otherwise responses show the page of the event.
      website: event.website || NO_WEBSITE,
      categories: this.#termsOf('category', names, upserts),
      tags: this.#termsOf('tag', tags, upserts),
      venues: venue ? [this.#linkedOf('venue', source, venue, upserts)] : [],
      organizers: organizers.map((each) => this.#linkedOf('organizer', source, each, upserts)),
    }) as unknown as EventRecord;
    setListedTimes(record, this.#site);
    record.searchText = searchTextOf('event', { ...record });
    return { upserts: [...upserts, record], images };
  }

  #isFirst(id: number): boolean {
    if (this.#made.has(id)) return false;
    this.#made.add(id);
    return true;
  }

  /** Of one name at two addresses there are two venues. The first event that names one says what is shown of it. */
  #linkedOf(kind: LinkedKind, source: string, said: SourceVenue | SourceOrganizer, upserts: CalendarRecord[]): number {
    const { name, ...fields } = said;
    const address = 'address' in said ? fold(said.address) : '';
    const id = idOf(kind, source, foldName(name), address);
    if (!this.#isFirst(id)) return id;
    const region = 'address' in said ? { stateprovince: said.state || said.province || '' } : {};
    const record = {
      ...emptyRecord(kind, id),
      ...fields,
      ...region,
      ...{ ...WITHOUT_TIMES, title: name, slug: slugFor(name, id) },
    };
    // The field table has a row for each property of the type.
    upserts.push({ ...record, searchText: searchTextOf(kind, record) } as unknown as VenueRecord);
    return id;
  }

  /**
   * The CMS's term of this name or slug, if it has one; else one of its own, which all sources share: its name is as the
   * first of them writes it that a pass over all sources finds.
   */
  #termsOf(kind: TermKind, names: readonly string[], upserts: CalendarRecord[]): number[] {
    const ids = names.flatMap((name) => {
      const key = foldName(name);
      if (key === '') return [];
      const known = this.#terms.get(`${kind} ${key}`);
      if (known !== undefined) return [known];
      const ofCms = this.#cmsTerm(kind, name);
      const id = ofCms ?? idOf(kind, key);
      this.#terms.set(`${kind} ${key}`, id);
      const isNamed = !this.#isFull && getRecord(this.#db, kind, id) !== undefined;
      if (ofCms === undefined && !isNamed) upserts.push(newTerm(kind, id, name));
      return [id];
    });
    return [...new Set(ids)];
  }

  #cmsTerm(kind: TermKind, name: string): number | undefined {
    const slug = slugOf(name);
    const found = [termIdByName(this.#db, kind, name), slug === '' ? undefined : termIdBySlug(this.#db, kind, slug)];
    return found.find((id) => id !== undefined && id < FIRST_SOURCE_ID);
  }

  /** Of each source its own: one of them may say how large the image is, and another not. */
  #imageOf(source: string, image: NonNullable<SourceEvent['image']>, images: ImageRecord[]): number {
    const { url, width, height } = image;
    const id = idOf('image', source, url);
    const extension = /\.([a-z]{3,4})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? '';
    if (this.#isFirst(id)) images.push({ id, url, extension, width, height, filesizeBytes: 0, sizes: {} });
    return id;
  }
}

const WITHOUT_TIMES = { date: NO_TIME, dateUtc: NO_TIME, modified: NO_TIME, modifiedUtc: NO_TIME };

function emptyRecord(kind: Kind, id: number): Record<string, unknown> {
  const values = Object.values(FIELDS[kind]).map(({ key, empty }) => [key, Array.isArray(empty) ? [] : empty]);
  return { kind, id, ...Object.fromEntries(values) };
}

function newTerm(kind: TermKind, id: number, name: string): TermRecord {
  return { kind, id, name, slug: slugOf(name) || `${kind}-${id.toString(36)}`, description: '', parent: 0, url: '' };
}

/** Always with a suffix: whether the CMS or another source has the slug differs from hour to hour. */
const slugFor = (title: string, id: number): string => `${slugOf(title).slice(0, 150)}-${id.toString(36)}`;

/** A source that does not say when it changed an event changed it when this gateway noticed. */
function timesOf(event: SourceEvent, noticed: string, site: Site): Partial<EventRecord> {
  const { modifiedUtc = noticed, createdUtc = modifiedUtc } = event;
  const local = (utc: string) => utcToWall(utc, siteZone(site.timezone));
  return { date: local(createdUtc), dateUtc: createdUtc, modified: local(modifiedUtc), modifiedUtc };
}
