// Custom fields of a mapping: read, written, requested from the CMS and registered by the companion plugin.

import { expect } from 'chai';
import { companionPlugin } from '../../src/cli/plugin/companion-plugin.ts';
import { mappingWith, site } from './samples.ts';

const CUSTOM_FIELDS = {
  last_bus: 'meta.last_bus',
  seats: { at: 'meta.seats', as: 'number', clearWith: null },
  outdoors: { at: 'meta.open_air', type: 'boolean', as: { boolean: ['yes', 'no'] } },
  room: { at: 'meta.place', json: 'room' },
  source: { at: 'meta.source', readOnly: true },
};
const mapping = mappingWith({}, {}, { custom_fields: CUSTOM_FIELDS });
const { event } = mapping.kinds;

describe('custom fields of a mapping', () => {
  it('are read by their codecs; empty texts and missing values are left out', () => {
    const meta = {
      start: '2027-05-01 19:30:00',
      seats: 120,
      open_air: 'no',
      place: '{"room":"A"}',
      source: '',
      other: 'x',
    };
    expect(event.read({ id: 1, meta }, site).customFields).to.deep.equal({ seats: '120', outdoors: false, room: 'A' });
    expect(event.read({ id: 1, meta: { last_bus: '' } }, site)).to.not.have.property('customFields');
  });

  it('are written one by one, also into a JSON text that keeps its other values', () => {
    const write = (customFields: Record<string, string | boolean>, current?: object) =>
      event.write({ customFields }, { site, current: current && { ...current } });
    expect(write({ last_bus: '19:00' })).to.deep.equal({ meta: { last_bus: '19:00' } });
    expect(write({ seats: '80', outdoors: true })).to.deep.equal({ meta: { seats: 80, open_air: 'yes' } });
    expect(write({ seats: '' })).to.deep.equal({ meta: { seats: null } });
    expect(write({ source: 'x' })).to.deep.equal({});
    expect(event.needsCurrent({ customFields: { room: 'B' } })).to.equal(true);
    expect(event.needsCurrent({ customFields: { seats: '1' } })).to.equal(false);
    const current = { meta: { place: '{"room":"A","floor":2}' } };
    expect(write({ room: 'B' }, current)).to.deep.equal({ meta: { place: '{"room":"B","floor":2}' } });
  });

  it('are refused with 400 if the CMS cannot store the value', () => {
    expect(() => event.write({ customFields: { seats: 'many' } }, { site })).to.throw(
      /Invalid parameter\(s\): custom_fields/,
    );
  });

  it('are requested from the CMS, and only if the mapping has them', () => {
    expect(event.selectedFields.split(',')).to.include.members(['meta.last_bus', 'meta.open_air', 'meta.place']);
    expect(mappingWith({}).kinds.event.selectedFields).to.not.include('last_bus');
  });

  it('cannot be written if the kind is read-only', () => {
    const { kinds } = mappingWith({}, {}, { readOnly: true, custom_fields: CUSTOM_FIELDS });
    expect([...kinds.event.customFields.values()].every(({ accessor }) => !accessor.write)).to.equal(true);
  });

  it('are opened by the companion plugin with their types', () => {
    const code = companionPlugin(mapping);
    for (const [key, type] of Object.entries({
      last_bus: 'string',
      seats: 'number',
      open_air: 'string',
      place: 'string',
    }))
      expect(code).to.match(new RegExp(`"${key}": \\{\\s+"type": "${type}"`));
    expect(code).to.match(/"source": \{[^}]*"readonly": true/);
  });

  for (const name of ['constructor', 'toString', '__proto__', 'prototype'])
    it(`cannot have a name that no request can send: ${name}`, () => {
      const custom_fields = JSON.parse(`{"${name}":"meta.x"}`);
      expect(() => mappingWith({}, {}, { custom_fields })).to.throw(`/event/custom_fields/${name}`);
    });
});
