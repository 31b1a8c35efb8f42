// The interface's fields a mapping may name, by kind: what they are called, what type they have, where WordPress keeps them by itself.

import { type Kind, NO_TIME } from '../records.ts';

export type FieldType = 'text' | 'html' | 'boolean' | 'number' | 'ids' | 'wall' | 'site-time' | 'utc-time' | 'zone';

/** Place of a field that needs no line in a mapping: read here, written there (not written when absent). */
export interface CorePlace {
  read: string;
  write?: string;
}

export interface FieldInfo {
  /** The field's name in records.ts. */
  key: string;
  type: FieldType;
  /** What it reads as when nothing is stored. */
  empty: string | number | boolean | readonly number[];
  /** Where a post has it. */
  post?: CorePlace;
  /** Where a term has it. */
  term?: CorePlace;
  /** A mapping without it is refused. */
  required?: true;
  /** Computed or fixed by the CMS: a write is never asked for. */
  derived?: true;
  /** Its text is searched for. */
  searched?: true;
}

export type FieldTable = Readonly<Record<string, FieldInfo>>;

const text = (key: string, more: Partial<FieldInfo> = {}): FieldInfo => ({ key, type: 'text', empty: '', ...more });
const flag = (key: string, empty: boolean): FieldInfo => ({ key, type: 'boolean', empty });
const ids = (key: string): FieldInfo => ({ key, type: 'ids', empty: [] });

function html(key: string, place: string, term?: string): FieldInfo {
  const post = { read: `${place}.rendered`, write: place };
  return { key, type: 'html', empty: '', post, ...(term ? { term: { read: term, write: term } } : {}) };
}

const POST: FieldTable = {
  slug: text('slug', { post: { read: 'slug', write: 'slug' }, term: { read: 'slug', write: 'slug' } }),
  description: html('description', 'content', 'description'),
  excerpt: html('excerpt', 'excerpt'),
  status: { key: 'status', type: 'text', empty: 'publish', post: { read: 'status', write: 'status' } },
  author: { key: 'author', type: 'number', empty: 0, post: { read: 'author', write: 'author' } },
  date: { key: 'date', type: 'site-time', empty: NO_TIME, post: { read: 'date', write: 'date' } },
  date_utc: { key: 'dateUtc', type: 'utc-time', empty: NO_TIME, post: { read: 'date_gmt', write: 'date_gmt' } },
  modified: { key: 'modified', type: 'site-time', empty: NO_TIME, post: { read: 'modified' }, derived: true },
  modified_utc: { key: 'modifiedUtc', type: 'utc-time', empty: NO_TIME, post: { read: 'modified_gmt' }, derived: true },
  url: text('url', { post: { read: 'link' }, term: { read: 'link' }, derived: true }),
  protected: { key: 'protected', type: 'boolean', empty: false, post: { read: 'content.protected' }, derived: true },
  image: {
    key: 'image',
    type: 'number',
    empty: 0,
    post: { read: 'featured_media', write: 'featured_media' },
  },
};

const TERM: FieldTable = {
  name: text('name', { term: { read: 'name', write: 'name' } }),
  slug: text('slug', { term: { read: 'slug', write: 'slug' } }),
  description: text('description', { term: { read: 'description', write: 'description' } }),
  url: text('url', { term: { read: 'link' }, derived: true }),
};

/** Every field of each kind under the interface's name (interface.md 2, interface-behaviour 1). */
export const FIELDS: Readonly<Record<Kind, FieldTable>> = {
  event: {
    title: html('title', 'title'),
    ...POST,
    all_day: flag('allDay', false),
    start_date: { key: 'start', type: 'wall', empty: '', required: true },
    end_date: { key: 'end', type: 'wall', empty: '', required: true },
    timezone: { key: 'timezone', type: 'zone', empty: '' },
    cost: text('cost'),
    website: text('website'),
    show_map: flag('showMap', false),
    show_map_link: flag('showMapLink', false),
    hide_from_listings: flag('hidden', false),
    sticky: flag('sticky', false),
    featured: flag('featured', false),
    post_parent: { key: 'parent', type: 'number', empty: 0, post: { read: 'parent' } },
    categories: ids('categories'),
    tags: ids('tags'),
    venue: ids('venues'),
    organizer: ids('organizers'),
  },
  venue: {
    venue: html('title', 'title', 'name'),
    ...POST,
    address: text('address', { searched: true }),
    city: text('city', { searched: true }),
    country: text('country'),
    province: text('province', { searched: true }),
    state: text('state', { searched: true }),
    stateprovince: text('stateprovince', { searched: true }),
    zip: text('zip', { searched: true }),
    phone: text('phone', { searched: true }),
    website: text('website'),
    show_map: flag('showMap', true),
    show_map_link: flag('showMapLink', true),
  },
  organizer: {
    organizer: html('title', 'title', 'name'),
    ...POST,
    phone: text('phone', { searched: true }),
    email: text('email', { searched: true }),
    website: text('website', { searched: true }),
  },
  category: {
    ...TERM,
    parent: { key: 'parent', type: 'number', empty: 0, term: { read: 'parent', write: 'parent' } },
  },
  tag: TERM,
};

/** Which kind an event's field refers to. */
export const REFERS_TO: Readonly<Record<string, Exclude<Kind, 'event'>>> = {
  categories: 'category',
  tags: 'tag',
  venue: 'venue',
  organizer: 'organizer',
};
