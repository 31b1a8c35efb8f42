// The field table: order of parameters and properties, and every text and flag of every kind through a
// create, a read and an update.

import { expect } from 'chai';
import { BODY_PARAMETERS, copiedFields, FIELDS } from '../../src/interface/fields.ts';
import type { Parameter } from '../../src/interface/parameter.ts';
import { RECORD_SCHEMAS, SCHEMA_NAMES } from '../../src/interface/response-schemas.ts';
import * as types from '../../src/interface/value-types.ts';
import { KINDS, type Kind, PLURALS } from '../../src/model/records.ts';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import type { Json, TestGateway } from '../start-gateway.ts';

const TEXT_TYPES = [types.text, types.clearableText, types.anyValue];
const FLAG_TYPES = [types.flag, types.textFlag];
const COORDINATE_TYPES = [types.clearableLatitude, types.clearableLongitude];

/** A value that responses repeat as sent. Undefined for a type that has tests of its own, such as dates. */
function sampleOf({ name, type }: Parameter, isSecond: boolean): unknown {
  if (name === 'slug') return isSecond ? 'second-slug' : 'first-slug';
  if (name === 'all_day') return undefined;
  const words = FIELDS.event[name]?.words;
  if (words) return words[isSecond ? 2 : 1];
  if (type === types.website || type === types.linkedWebsite) return `https://site.example/${isSecond ? 2 : 1}`;
  if (type === types.timeZone) return isSecond ? 'Europe/Paris' : 'Asia/Tokyo';
  if (COORDINATE_TYPES.includes(type)) return isSecond ? -33.4489 : 52.520008;
  if (TEXT_TYPES.includes(type)) return `${isSecond ? 'Second' : 'First'} ${name}`;
  return FLAG_TYPES.includes(type) ? isSecond : undefined;
}

const samplesOf = (kind: Kind, isSecond: boolean): Json =>
  Object.fromEntries(
    BODY_PARAMETERS[kind].flatMap((parameter) => {
      const value = sampleOf(parameter, isSecond);
      return value === undefined ? [] : [[parameter.name, value]];
    }),
  );

/** A JSON boolean is not of type string, as the flags of a venue require. */
const asSent = (kind: Kind, values: Json): Json =>
  kind === 'venue'
    ? Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, typeof value === 'boolean' ? String(value) : value]),
      )
    : values;

describe('field table', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await seededGateway();
  });
  after(() => gateway.stop());

  for (const kind of KINDS)
    it(`has texts and flags of each ${kind} that a response repeats after a create and after an update`, async () => {
      const times = kind === 'event' ? { start_date: '2027-05-01 10:00', end_date: '2027-05-01 12:00' } : {};
      const first = samplesOf(kind, false);
      const path = `/${PLURALS[kind]}`;
      const created = await gateway.request(path, { as: 'admin', json: { ...times, ...asSent(kind, first) } });
      expect(created.status, created.text).to.equal(201);
      expect((await gateway.request(`${path}/${created.body.id}`)).body).to.deep.include(first);

      const second = samplesOf(kind, true);
      const item = `${path}/${created.body.id}`;
      const updated = await gateway.request(item, { as: 'admin', method: 'PUT', json: asSent(kind, second) });
      expect(updated.status, updated.text).to.be.oneOf([200, 201]);
      expect((await gateway.request(item)).body).to.deep.include(second);
    });

  for (const kind of KINDS) {
    it(`has a response property for each parameter of a ${kind}`, () => {
      const { properties } = RECORD_SCHEMAS[SCHEMA_NAMES[kind]];
      for (const { name } of BODY_PARAMETERS[kind]) expect(properties, name).to.have.property(name);
    });

    it(`maps each name of a ${kind} to a property of its own`, () => {
      const keys = Object.values(FIELDS[kind]).map(({ property }) => property);
      expect(new Set(keys).size).to.equal(keys.length);
    });
  }

  it('copies only fields that clients can set', () => {
    for (const kind of KINDS)
      for (const [name, field] of copiedFields(kind)) expect(field.parameter, `${kind} ${name}`).to.be.an('object');
  });
});
