// Sample records for the tests of the replica, and arbitrary records for property tests.

import fc from 'fast-check';
import { FIELDS } from '../../src/interface/fields.ts';
import { EVENT_STATUSES } from '../../src/model/event-state.ts';
import type {
  EventRecord,
  ImageRecord,
  OrganizerRecord,
  PostKind,
  TermKind,
  TermRecord,
  VenueRecord,
} from '../../src/model/records.ts';

const POST = {
  status: 'publish',
  author: 1,
  date: '2026-01-01 10:00:00',
  dateUtc: '2026-01-01 09:00:00',
  modified: '2026-01-01 10:00:00',
  modifiedUtc: '2026-01-01 09:00:00',
  url: 'https://cms.example/post',
  description: '',
  excerpt: '',
  protected: false,
  image: 0,
};

/** A field that no code uses by name has its value from here. */
const emptyFields = (kind: PostKind) =>
  Object.fromEntries(Object.values(FIELDS[kind]).map(({ property, empty }) => [property, empty]));

const named = (kind: PostKind, id: number) => ({
  ...emptyFields(kind),
  id,
  slug: `${kind}-${id}`,
  title: `${kind} ${id}`,
  searchText: `${kind} ${id}`,
});

export function event(id: number, fields: Partial<EventRecord> = {}): EventRecord {
  return {
    kind: 'event',
    ...named('event', id),
    ...POST,
    allDay: false,
    start: '2026-06-01 10:00:00',
    end: '2026-06-01 12:00:00',
    startUtc: '2026-06-01 08:00:00',
    endUtc: '2026-06-01 10:00:00',
    timezone: 'Europe/Berlin',
    cost: '',
    website: '',
    showMap: true,
    showMapLink: true,
    hidden: false,
    sticky: false,
    featured: false,
    parent: 0,
    eventStatus: '',
    eventStatusReason: '',
    attendanceMode: '',
    onlineUrl: '',
    categories: [],
    tags: [],
    venues: [],
    organizers: [],
    ...fields,
  };
}

export function venue(id: number, fields: Partial<VenueRecord> = {}): VenueRecord {
  const address = {
    address: '',
    city: '',
    country: '',
    province: '',
    state: '',
    stateprovince: '',
    zip: '',
    phone: '',
  };
  return {
    kind: 'venue',
    ...named('venue', id),
    ...POST,
    ...address,
    website: '',
    latitude: null,
    longitude: null,
    showMap: true,
    showMapLink: true,
    ...fields,
  };
}

export function organizer(id: number, fields: Partial<OrganizerRecord> = {}): OrganizerRecord {
  return { kind: 'organizer', ...named('organizer', id), ...POST, phone: '', website: '', email: '', ...fields };
}

export function term(kind: TermKind, id: number, fields: Partial<TermRecord> = {}): TermRecord {
  const url = `https://cms.example/${kind}/${id}`;
  return { kind, id, name: `${kind} ${id}`, slug: `${kind}-${id}`, description: '', parent: 0, url, ...fields };
}

/** When the replica of a property test noticed a term. */
export const noticedAt = ({ id }: TermRecord): string => `2026-01-01 00:00:${pad(id)}`;

export function image(id: number, fields: Partial<ImageRecord> = {}): ImageRecord {
  const url = `https://cms.example/${id}.jpg`;
  return { id, url, extension: 'jpg', width: 10, height: 10, filesizeBytes: 100, sizes: {}, ...fields };
}

/** Few values, so that many records share statuses, authors, times and link targets. */
export const STATUSES = ['publish', 'draft', 'pending', 'private', 'future', 'trash'];
export const TARGETS = [1, 2, 3, 4, 5, 6];
export const CATEGORIES = [1, 2, 3, 4, 5, 6];
/** Categories without events of their own. */
export const PARENTS = [7, 8, 9];

const pad = (value: number) => String(value).padStart(2, '0');

/** Times on a few days around a turn of the year, and in another year for very long events. */
export const wall = fc
  .tuple(
    fc.constantFrom('2025-12-30', '2025-12-31', '2026-01-01', '2026-01-02', '2026-02-28', '2026-03-01', '2027-01-01'),
    fc.constantFrom(0, 9, 23),
    fc.constantFrom(0, 59),
  )
  .map(([day, hour, minute]) => `${day} ${pad(hour)}:${pad(minute)}:${pad(minute)}`);

/** Words of several scripts, and characters with a meaning in SQL, GLOB, LIKE or FTS5. */
export const WORDS = [
  'Jazz',
  'jazzfest',
  'Été',
  'ete',
  'STRASSE',
  'straße',
  'Łódź',
  '100%',
  '10_0',
  '50',
  'a*b',
  '[x]',
  'q?',
  '<b>zeb</b>ra',
  '"',
  'Ü',
  '日本語',
  '日',
  'it’s',
  '-',
];

export const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }).map((words) => words.join(' '));

/** Values of custom fields, as a filter names them. */
export const someValues = fc.dictionary(fc.constantFrom('room', 'level'), fc.constantFrom('A', 'B'), {
  minKeys: 1,
  noNullPrototype: true,
  maxKeys: 2,
});
const customFields = fc.oneof(fc.constant({}), someValues);

const ids = fc.subarray(TARGETS, { maxLength: 2 });

export const anyEvent = (id: number) =>
  fc
    .record({
      status: fc.constantFrom(...STATUSES, 'publish', 'publish', 'publish'),
      author: fc.constantFrom(0, 1, 2),
      date: wall,
      start: wall,
      end: wall,
      startUtc: wall,
      hidden: fc.constantFrom(false, false, false, true),
      featured: fc.boolean(),
      protected: fc.constantFrom(false, false, false, true),
      parent: fc.constantFrom(0, 0, 101, 102),
      eventStatus: fc.constantFrom('' as const, '' as const, ...EVENT_STATUSES),
      image: fc.constantFrom(0, 71, 72),
      modifiedUtc: wall,
      title: fc.constantFrom('Été', 'ete', 'Zoo', 'apple &amp; pear', '<b>Apple</b>', '_x'),
      categories: ids,
      tags: ids,
      venues: ids,
      organizers: ids,
      customFields,
      searchText: text,
    })
    .map((fields) => event(id, fields));

export const anyLinked = (kind: 'venue' | 'organizer', id: number) =>
  fc
    .record({
      status: fc.constantFrom(...STATUSES),
      author: fc.constantFrom(0, 1, 2),
      date: wall,
      image: fc.constantFrom(0, 71, 72),
      modifiedUtc: wall,
      protected: fc.constantFrom(false, false, false, true),
      customFields,
      searchText: text,
    })
    .map((fields) => (kind === 'venue' ? venue(id, fields) : organizer(id, fields)));

export const anyTerm = (kind: TermKind, id: number) =>
  fc
    .record({
      name: fc.constantFrom('Été', 'ete', 'Zoo', 'apple', 'Apple', 'Food &amp; Drink', '_x', '100%'),
      slug: fc.constantFrom('jazz', 'Jazz', 'food-drink', `only-${id}`),
      description: fc.constantFrom('', 'b', 'A', 'é'),
      parent: kind === 'category' ? fc.constantFrom(0, 0, 1, 3, ...PARENTS) : fc.constant(0),
    })
    .map((fields) => term(kind, id, fields));

/** Whose unpublished records a caller sees. */
export const visibility = fc.record({
  anyAuthor: fc.subarray(STATUSES, { maxLength: 4 }),
  ownOnly: fc.subarray(STATUSES, { maxLength: 3 }),
  userId: fc.constantFrom(0, 1, 2),
});
