// The codecs that `init` proposes for typed fields of Advanced Custom Fields and Pods.

import { expect } from 'chai';
import { propose } from '../../../src/cli/init/propose.ts';
import { type ProbedSite, type ProbedType, siteFields } from '../../../src/cli/init/site.ts';

type Json = Record<string, unknown>;

function type(name: string, base: string, record: Json, schema: Json = {}): ProbedType {
  const records = [{ id: base.length, ...record }];
  const fields = siteFields(records, schema);
  return { type: name, base, label: base, termBases: [], total: 1, newestRecords: records, fields };
}

const site = (types: ProbedType[]): ProbedSite => ({
  url: 'http://site.example',
  name: 'Town',
  timezone: 'Europe/Paris',
  plugins: undefined,
  namespaces: [],
  account: undefined,
  types,
  taxonomies: [],
});

const acf = (properties: Json): Json => ({ acf: { type: 'object', properties } });
const nullable = (name: string, more: Json = {}): Json => ({ type: [name, 'null'], ...more });

describe('a proposal for typed fields', () => {
  it('clears numbers, addresses and e-mail addresses of Advanced Custom Fields with null', () => {
    const happening = type(
      'happening',
      'happenings',
      { acf: { event_start: '2031-05-01 19:30:00', price: '', ticket_link: '', troupe: 7 } },
      acf({
        event_start: nullable('string'),
        price: nullable('number'),
        ticket_link: nullable('string', { format: 'uri' }),
      }),
    );
    const troupe = type(
      'troupe',
      'troupes',
      { acf: { email: '', phone: '' } },
      acf({ email: nullable('string', { format: 'email' }), phone: nullable('string') }),
    );
    happening.fields.find(({ path }) => path === 'acf.troupe')!.path = 'acf.organizer';
    const { mapping } = propose(site([happening, troupe]))!;
    expect(mapping.event.fields).to.deep.include({
      cost: { at: 'acf.price', as: 'number', clearWith: null },
      website: { at: 'acf.ticket_link', clearWith: null },
    });
    expect(mapping.organizer?.fields).to.deep.equal({
      phone: 'acf.phone',
      email: { at: 'acf.email', clearWith: null },
    });
  });
});
