// What the reference says of every answer of a kind, for the scenes and tests that look at many.

import { expect } from 'chai';
import type { Answered, Json } from '../gateway-under-test.ts';

/** All keys of an event, in the reference's own order (interface-behaviour 1.1). */
export const EVENT_KEYS = (
  'id global_id global_id_lineage author status date date_utc modified modified_utc url rest_url title description ' +
  'excerpt slug image all_day start_date start_date_details end_date end_date_details utc_start_date ' +
  'utc_start_date_details utc_end_date utc_end_date_details timezone timezone_abbr cost cost_details website show_map ' +
  'show_map_link hide_from_listings sticky featured categories tags venue organizer custom_fields'
).split(' ');

/** What a venue with nothing but a name has (1.2). */
export const BARE_VENUE_KEYS =
  'id author status date date_utc modified modified_utc url venue slug show_map show_map_link global_id global_id_lineage'.split(
    ' ',
  );

export const BARE_ORGANIZER_KEYS = BARE_VENUE_KEYS.filter((key) => !key.startsWith('show_map')).map((key) =>
  key === 'venue' ? 'organizer' : key,
);

export const MOMENT = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;
export const NEVER = '0000-00-00 00:00:00';

/** `E(names)`: the first stage of validation. */
export function expectInvalid({ status, body }: Answered, ...names: string[]): void {
  expect({ status, ...body }).to.deep.equal({
    status: 400,
    code: 'rest_invalid_param',
    message: `Invalid parameter(s): ${names.join(', ')}`,
    data: { status: 400, params: Object.fromEntries(names.map((name) => [name, 'Invalid parameter.'])), details: [] },
  });
  expect(Object.keys(body.data.params)).to.deep.equal(names);
}

/** `T(name, type)`: the second. */
export function expectMistyped({ status, body }: Answered, types: Record<string, string>): void {
  const names = Object.keys(types);
  const message = (name: string) => `${name} is not of type ${types[name]}.`;
  expect({ status, ...body }).to.deep.equal({
    status: 400,
    code: 'rest_invalid_param',
    message: `Invalid parameter(s): ${names.join(', ')}`,
    data: {
      status: 400,
      params: Object.fromEntries(names.map((name) => [name, message(name)])),
      details: Object.fromEntries(
        names.map((name) => [name, { code: 'rest_invalid_type', message: message(name), data: { param: name } }]),
      ),
    },
  });
  expect(Object.keys(body.data.params)).to.deep.equal(names);
}

/** A refusal with this status, code and sentence, and `data.status` alone. */
export function expectRefused(
  { status, body }: Answered,
  wanted: { status: number; code: string; message: string },
): void {
  const { code, message } = wanted;
  expect({ status, body }).to.deep.equal({
    status: wanted.status,
    body: { code, message, data: { status: wanted.status } },
  });
}

/** 400 naming these parameters, in whatever sentence: where the gateway refuses what the original stores or breaks on. */
export function expectNamed({ status, body }: Answered, ...names: string[]): void {
  expect({ status, code: body.code, names: Object.keys(body.data.params) }).to.deep.equal({
    status: 400,
    code: 'rest_invalid_param',
    names,
  });
}

/** Missing fields, all of them, in declared order. */
export function expectMissing({ status, body }: Answered, ...names: string[]): void {
  expect({ status, body }).to.deep.equal({
    status: 400,
    body: {
      code: 'rest_missing_callback_param',
      message: `Missing parameter(s): ${names.join(', ')}`,
      data: { status: 400, params: names },
    },
  });
}

/** Not allowed: 401 for nobody, 403 for somebody (7). */
export function expectForbidden(answer: Answered, status: 401 | 403): void {
  expectRefused(answer, { status, code: 'rest_forbidden', message: 'Sorry, you are not allowed to do that.' });
}

/** The record without what every change touches. */
export function lasting(record: Json, ...but: string[]): Json {
  const volatile = new Set(['modified', 'modified_utc', 'json_ld', ...but]);
  return Object.fromEntries(Object.entries(record).filter(([key]) => !volatile.has(key)));
}
