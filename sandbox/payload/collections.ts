// The collections of the site: events with venues, organizers, categories and tags, classes of several weeks,
// images and users.

import { lexicalEditor, lexicalHTMLField } from '@payloadcms/richtext-lexical';
import type { CollectionConfig, Field, FieldHook } from 'payload';
import {
  editors,
  editorsField,
  editorsOrAuthor,
  everybody,
  onlyAdmin,
  ownAccount,
  publishedOrOwn,
  ROLES,
  writers,
} from './access.ts';

const MAX_SLUG_LENGTH = 200;

/** A record without a slug gets one from its title, as in Payload's website template. */
const slugFrom =
  (titleField: string): FieldHook =>
  ({ value, data }) => {
    const text = typeof value === 'string' && value !== '' ? value : String(data?.[titleField] ?? '');
    const slug = text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
      .slice(0, MAX_SLUG_LENGTH);
    return slug === '' ? undefined : slug;
  };

const slug = (titleField: string): Field => ({
  name: 'slug',
  type: 'text',
  unique: true,
  index: true,
  hooks: { beforeValidate: [slugFrom(titleField)] },
});

/** Lexical's rich text, and the HTML that Payload makes of it when it reads the record. */
const description: Field[] = [
  { name: 'description', type: 'richText', editor: lexicalEditor() },
  lexicalHTMLField({ lexicalFieldName: 'description', htmlFieldName: 'descriptionHtml' }),
];

const image: Field = { name: 'image', type: 'upload', relationTo: 'media' };

const author: Field = {
  name: 'author',
  type: 'relationship',
  relationTo: 'users',
  defaultValue: ({ user }: { user?: { id?: unknown } | null }) => user?.id,
};

/** What an unpublished record is, if it is not a draft. Payload itself has drafts only. */
const workflow: Field = { name: 'workflow', type: 'select', options: ['pending', 'private'] };

/** What only editors read: a field of the record, and one of a group. */
const forEditors: Field[] = [
  { name: 'internalNote', type: 'text', access: { read: editorsField } },
  {
    name: 'contact',
    type: 'group',
    fields: [
      { name: 'name', type: 'text' },
      { name: 'phone', type: 'text', access: { read: editorsField } },
    ],
  },
];

const checkboxes = (defaultValue: boolean, ...names: string[]): Field[] =>
  names.map((name) => ({ name, type: 'checkbox', defaultValue }));
const texts = (...names: string[]): Field[] => names.map((name) => ({ name, type: 'text' }));

/** Drafts, a trash and an author. */
const documents = {
  access: {
    read: publishedOrOwn,
    create: writers,
    update: editorsOrAuthor,
    delete: editorsOrAuthor,
    readVersions: editors,
  },
  versions: { drafts: true },
  trash: true,
} satisfies Partial<CollectionConfig>;

const terms = {
  access: { read: everybody, create: editors, update: editors, delete: editors },
} satisfies Partial<CollectionConfig>;

const events: CollectionConfig = {
  slug: 'events',
  admin: { useAsTitle: 'title' },
  ...documents,
  fields: [
    { name: 'title', type: 'text', required: true },
    slug('title'),
    ...description,
    { name: 'excerpt', type: 'textarea' },
    { name: 'startDate', type: 'date', required: true, index: true },
    { name: 'endDate', type: 'date', required: true, index: true },
    { name: 'timeZone', type: 'text', required: true, defaultValue: 'America/New_York' },
    { name: 'venue', type: 'relationship', relationTo: 'venues' },
    { name: 'organizers', type: 'relationship', relationTo: 'organizers', hasMany: true },
    { name: 'categories', type: 'relationship', relationTo: 'categories', hasMany: true },
    { name: 'tags', type: 'relationship', relationTo: 'tags', hasMany: true },
    ...texts('cost', 'website', 'eventStatusReason', 'onlineUrl'),
    { name: 'eventStatus', type: 'select', options: ['scheduled', 'cancelled', 'postponed', 'moved_online'] },
    { name: 'attendanceMode', type: 'select', options: ['offline', 'online', 'mixed'] },
    ...checkboxes(false, 'allDay', 'featured', 'sticky', 'hideFromListings', 'showMap', 'showMapLink'),
    image,
    { name: 'publishedAt', type: 'date' },
    ...forEditors,
    workflow,
    author,
  ],
};

const DAY_MS = 86_400_000;

/**
 * The weeks of a class, if the request asks for the occurrences of so many days before and after today.
 * `null`: it takes place once.
 */
const occurrencesOfClass: FieldHook = ({ data, req }) => {
  const window = /^(\d+),(\d+)$/.exec(String(req.query.calendar_occurrences ?? ''));
  if (!window) return undefined;
  const weeks = Number(data?.weeks ?? 1);
  if (weeks < 2) return null;
  const [from, to] = [Date.now() - Number(window[1]) * DAY_MS, Date.now() + Number(window[2]) * DAY_MS];
  const wallTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
  return Array.from({ length: weeks }, (_, week) => {
    const [start, end] = [data?.startDate, data?.endDate].map((date) => Date.parse(String(date)) + week * 7 * DAY_MS);
    return { startMs: start ?? 0, start: wallTime(start ?? 0), end: wallTime(end ?? 0) };
  })
    .filter(({ startMs }) => startMs >= from && startMs <= to)
    .map(({ start, end }) => ({ start, end }));
};

/** A series: one record for all weeks, whose times are in UTC. */
const classes: CollectionConfig = {
  slug: 'classes',
  admin: { useAsTitle: 'title' },
  ...documents,
  fields: [
    { name: 'title', type: 'text', required: true },
    slug('title'),
    { name: 'startDate', type: 'date', required: true },
    { name: 'endDate', type: 'date', required: true },
    { name: 'weeks', type: 'number', defaultValue: 1 },
    { name: 'calendar_occurrences', type: 'json', virtual: true, hooks: { afterRead: [occurrencesOfClass] } },
    author,
  ],
};

const venues: CollectionConfig = {
  slug: 'venues',
  admin: { useAsTitle: 'name' },
  ...documents,
  fields: [
    { name: 'name', type: 'text', required: true },
    slug('name'),
    ...description,
    ...texts('address', 'city', 'state', 'province', 'stateProvince', 'zip', 'country', 'phone', 'website'),
    ...checkboxes(true, 'showMap', 'showMapLink'),
    image,
    { name: 'publishedAt', type: 'date' },
    workflow,
    author,
  ],
};

const organizers: CollectionConfig = {
  slug: 'organizers',
  admin: { useAsTitle: 'name' },
  ...documents,
  fields: [
    { name: 'name', type: 'text', required: true },
    slug('name'),
    ...description,
    ...texts('phone', 'email', 'website'),
    image,
    { name: 'publishedAt', type: 'date' },
    workflow,
    author,
  ],
};

const termFields: Field[] = [
  { name: 'name', type: 'text', required: true },
  slug('name'),
  { name: 'description', type: 'textarea' },
];

const categories: CollectionConfig = {
  slug: 'categories',
  admin: { useAsTitle: 'name' },
  ...terms,
  fields: [...termFields, { name: 'parent', type: 'relationship', relationTo: 'categories' }],
};

const tags: CollectionConfig = { slug: 'tags', admin: { useAsTitle: 'name' }, ...terms, fields: termFields };

const media = (dir: string): CollectionConfig => ({
  slug: 'media',
  access: { read: everybody, create: writers, update: editors, delete: editors },
  upload: { staticDir: dir },
  fields: [{ name: 'alt', type: 'text' }],
});

const users: CollectionConfig = {
  slug: 'users',
  auth: { useAPIKey: true },
  access: { read: ownAccount, create: onlyAdmin, update: onlyAdmin, delete: onlyAdmin },
  fields: [
    { name: 'name', type: 'text' },
    { name: 'role', type: 'select', options: [...ROLES], defaultValue: 'subscriber', required: true, saveToJWT: true },
  ],
};

/** @param mediaDir where Payload keeps uploads */
export const collections = (mediaDir: string): CollectionConfig[] => [
  ...[events, classes, venues, organizers, categories, tags],
  media(mediaDir),
  users,
];
