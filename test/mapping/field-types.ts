// Field types of Advanced Custom Fields 6.8.0 and Pods 3.3.9 as their REST APIs showed them, with the mapping
// lines that `init` proposes for them. `npm run test:plugins` compares this with the plugins themselves.

import type { FieldSpec } from '../../src/mapping/mapping-file.ts';

export interface FieldType {
  /** The field's type in the plugin. */
  type: string;
  /** Default: `event`. */
  kind?: 'event' | 'organizer';
  /** The field of the API, and its mapping line. */
  field: string;
  source: string | FieldSpec;
  /** Values that a site may hold, as its REST API shows them; the first means "none". */
  stored: readonly unknown[];
  /** Values of the API that the field cannot hold: the gateway refuses them before it asks the site. */
  refused?: readonly unknown[];
  /** What the site shows after a write of a value. Throws if it refuses the value. */
  afterWrite(sent: unknown): unknown;
}

const refuse = (reason: string): never => {
  throw new Error(`the site refuses it: ${reason}`);
};
const texts = ['', 'Check 12', '+353 91 1', 'ä "quoted" & <b>', '0'];

const acfText = (sent: unknown): unknown => {
  if (sent !== null && typeof sent !== 'string') refuse('not a text');
  return sent ?? '';
};

export const ACF_TYPES: readonly FieldType[] = [
  { type: 'text', field: 'cost', source: { at: 'acf.caption', clearWith: null }, stored: texts, afterWrite: acfText },
  { type: 'text', kind: 'organizer', field: 'phone', source: 'acf.phone', stored: texts, afterWrite: acfText },
  {
    type: 'number',
    field: 'cost',
    source: { at: 'acf.price', as: 'number', clearWith: null },
    stored: ['', 0, 12.5, -3, 1e-7, 123456789012345, 0.1],
    refused: ['$10 - $20', 'Free - 20', '10, 20', '12 per person', '€5', '12345678901234567.89', ['1', '2'], 'x'],
    afterWrite: (sent) => {
      if (sent !== null && typeof sent !== 'number') refuse('not a number');
      return sent ?? '';
    },
  },
  {
    type: 'url',
    field: 'website',
    source: { at: 'acf.ticket_link', clearWith: null },
    stored: ['', 'https://a.example/?x=1&y=2', 'http://b.example/ü'],
    afterWrite: acfText,
  },
  {
    type: 'true_false',
    field: 'featured',
    source: 'acf.featured',
    stored: [false, true],
    afterWrite: (sent) => (typeof sent === 'boolean' ? sent : refuse('not a boolean')),
  },
  {
    type: 'date_time_picker',
    field: 'start_date',
    source: 'acf.event_start',
    stored: [null, '2031-05-01 19:30:00', '2031-12-31 23:59:59'],
    afterWrite: acfText,
  },
  {
    type: 'date_picker',
    field: 'start_date',
    source: { at: 'acf.season', as: { 'local-datetime': 'Ymd' } },
    stored: [null, '20310501', '20311231'],
    refused: ['2031-05-01 19:30:00'],
    afterWrite: acfText,
  },
  {
    type: 'email',
    kind: 'organizer',
    field: 'email',
    source: { at: 'acf.email', clearWith: null },
    stored: ['', 'hello@players.example'],
    afterWrite: (sent) => (sent === '' ? refuse('Invalid email address.') : acfText(sent)),
  },
  {
    type: 'post_object',
    field: 'venue',
    source: { at: 'acf.location', as: { ids: 'one' }, clearWith: null },
    stored: [null, 7],
    refused: [[7, 8]],
    afterWrite: (sent) => (sent === null || Number.isInteger(sent) ? sent : refuse('not an id')),
  },
  {
    type: 'relationship',
    field: 'organizer',
    source: { at: 'acf.organisers', clearWith: null },
    stored: [null, [8], [8, 9]],
    afterWrite: (sent) => {
      if (sent !== null && (!Array.isArray(sent) || sent.length === 0)) refuse('fewer than one item');
      return sent;
    },
  },
];

/** Two decimals for currencies and none for numbers, as the settings of such fields are by default. */
const podsNumber =
  (mark: string, decimals = 2) =>
  (sent: unknown): unknown => {
    const text = String(sent ?? '');
    if (/[^0-9.,\-\s]/.test(text)) refuse('is not numeric');
    if (text === '') return '';
    return Number(mark === ',' ? text.replaceAll('.', '').replace(',', '.') : text.replaceAll(',', '')).toFixed(
      decimals,
    );
  };

/** The default format `999-999-9999`: the field drops the code of a country, and an extension. */
const podsPhone = (sent: unknown): unknown => {
  const [number = ''] = String(sent)
    .replace(/\+\d+/g, '')
    .replace(/[^0-9x]/g, '')
    .split('x');
  return [number.slice(0, 3), number.slice(3, 6), number.slice(6)].filter(Boolean).join('-');
};

export const PODS_TYPES: readonly FieldType[] = [
  // It removes tags.
  {
    type: 'text',
    field: 'cost',
    source: 'cost',
    stored: texts.filter((text) => !text.includes('<')),
    afterWrite: String,
  },
  {
    type: 'currency',
    field: 'cost',
    source: { at: 'surcharge', as: 'number', clearWith: '' },
    stored: ['', '0.00', '12.50', '1012.50', '-5.00'],
    refused: ['$10 - $20', 'Free - 20', '10, 20', '12 per person', '€5', 'x'],
    afterWrite: podsNumber('.'),
  },
  {
    type: 'currency in the format 9.999,99',
    field: 'cost',
    source: { at: 'surcharge_comma', as: { number: { decimal: ',' } }, clearWith: '' },
    stored: ['', '0.00', '12.50', '1012.50', '-5.00'],
    refused: ['$10 - $20', 'x'],
    afterWrite: podsNumber(','),
  },
  {
    type: 'number',
    field: 'cost',
    source: { at: 'seats', as: 'number', clearWith: '' },
    stored: ['', '0', '12', '1012', '-5'],
    refused: ['$10 - $20', '10, 20', 'x'],
    afterWrite: podsNumber('.', 0),
  },
  {
    type: 'phone',
    kind: 'organizer',
    field: 'phone',
    source: 'phone',
    stored: ['', '912', '555-010-0112'],
    afterWrite: podsPhone,
  },
  {
    type: 'phone in the international format',
    kind: 'organizer',
    field: 'phone',
    source: 'mobile',
    stored: ['', '+353 91 1', '(555) 010-0112'],
    afterWrite: String,
  },
  {
    type: 'email',
    kind: 'organizer',
    field: 'email',
    source: 'email',
    stored: ['', 'hello@players.example'],
    afterWrite: String,
  },
  {
    type: 'website',
    field: 'website',
    source: 'website',
    stored: ['', 'https://a.example/?x=1&y=2'],
    afterWrite: String,
  },
  {
    type: 'boolean',
    field: 'featured',
    source: { at: 'featured', as: { boolean: [1, 0] } },
    stored: ['', '0', '1'],
    afterWrite: (sent) => (sent === 1 ? '1' : sent === 0 ? '0' : refuse('not a boolean')),
  },
  {
    type: 'datetime',
    field: 'start_date',
    source: 'start_date',
    stored: ['0000-00-00 00:00:00', '2031-05-01 19:30:00'],
    afterWrite: (sent) => (sent === '' ? '0000-00-00 00:00:00' : sent),
  },
  {
    type: 'date',
    field: 'start_date',
    source: { at: 'season', as: { 'local-datetime': 'Y-m-d' } },
    stored: ['0000-00-00', '2031-05-01'],
    refused: ['2031-05-01 19:30:00'],
    afterWrite: (sent) => (sent === '' ? '0000-00-00' : sent),
  },
  {
    type: 'pick',
    field: 'organizer',
    source: { at: 'organizer', as: { ids: { objects: 'ID' } } },
    stored: [false, [{ ID: 8, post_title: 'The Players' }], [{ ID: 8 }, { ID: 9 }]],
    afterWrite: (sent) => {
      const ids = Array.isArray(sent) ? (sent as number[]) : refuse('not a list');
      return ids.length > 0 && ids.map((ID) => ({ ID }));
    },
  },
];
