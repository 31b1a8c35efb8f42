// Expected responses that many scenarios and tests share.

import { expect } from 'chai';
import type { Json, TestResponse } from '../start-gateway.ts';

/** All keys of an event, in the order of The Events Calendar. */
export const EVENT_KEYS = (
  'id global_id global_id_lineage author status date date_utc modified modified_utc url rest_url title description ' +
  'excerpt slug image all_day start_date start_date_details end_date end_date_details utc_start_date ' +
  'utc_start_date_details utc_end_date utc_end_date_details timezone timezone_abbr cost cost_details website show_map ' +
  'show_map_link hide_from_listings sticky featured categories tags venue organizer custom_fields'
).split(' ');

/** The keys of a venue with only a name. */
export const BARE_VENUE_KEYS =
  'id author status date date_utc modified modified_utc url venue slug show_map show_map_link global_id global_id_lineage'.split(
    ' ',
  );

export const BARE_ORGANIZER_KEYS = BARE_VENUE_KEYS.filter((key) => !key.startsWith('show_map')).map((key) =>
  key === 'venue' ? 'organizer' : key,
);

export const TIMESTAMP = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;
export const ZERO_DATE = '0000-00-00 00:00:00';

/** Values that are not in the accepted set or format. The original has no hints. */
export function expectInvalid({ status, body }: TestResponse, ...names: string[]): void {
  const { hints: _, ...data } = body.data;
  expect({ status, ...body, data }).to.deep.equal({
    status: 400,
    code: 'rest_invalid_param',
    message: `Invalid parameter(s): ${names.join(', ')}`,
    data: { status: 400, params: Object.fromEntries(names.map((name) => [name, 'Invalid parameter.'])), details: [] },
  });
  expect(Object.keys(body.data.params)).to.deep.equal(names);
}

/** Values of a wrong type. */
export function expectMistyped({ status, body }: TestResponse, types: Record<string, string>): void {
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

/** An error with only `status` in its data. */
export function expectError(
  { status, body }: TestResponse,
  error: { status: number; code: string; message: string },
): void {
  const { code, message } = error;
  expect({ status, body }).to.deep.equal({
    status: error.status,
    body: { code, message, data: { status: error.status } },
  });
}

/** 400 for these parameters, with any message: The Events Calendar would store the value, or fail. */
export function expectFieldsNamed({ status, body }: TestResponse, ...names: string[]): void {
  expect({ status, code: body.code, names: Object.keys(body.data.params) }).to.deep.equal({
    status: 400,
    code: 'rest_invalid_param',
    names,
  });
}

/** All missing parameters, in declared order. */
export function expectMissingFields({ status, body }: TestResponse, ...names: string[]): void {
  expect({ status, body }).to.deep.equal({
    status: 400,
    body: {
      code: 'rest_missing_callback_param',
      message: `Missing parameter(s): ${names.join(', ')}`,
      data: { status: 400, params: names },
    },
  });
}

/** 401 for an anonymous caller, 403 for others. */
export function expectForbidden(response: TestResponse, status: 401 | 403): void {
  expectError(response, { status, code: 'rest_forbidden', message: 'Sorry, you are not allowed to do that.' });
}

/** The record without the keys that every update changes. */
export function withoutVolatileFields(record: Json, ...more: string[]): Json {
  const volatile = new Set(['modified', 'modified_utc', 'json_ld', ...more]);
  return Object.fromEntries(Object.entries(record).filter(([key]) => !volatile.has(key)));
}
