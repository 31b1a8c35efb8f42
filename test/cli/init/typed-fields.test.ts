// The codecs that `init` proposes for typed fields of Advanced Custom Fields and Pods.

import { expect } from 'chai';
import { addPodsNumbers, sourceFields } from '../../../src/cli/init/probe.ts';
import { propose } from '../../../src/cli/init/propose.ts';
import type { ProbedSite, ProbedType } from '../../../src/cli/init/site.ts';
import type { RestConnection } from '../../../src/cli/open-site.ts';
import { CmsRejected } from '../../../src/errors.ts';

type Json = Record<string, unknown>;

function type(name: string, base: string, record: Json, schema: Json = {}): ProbedType {
  const records = [{ id: base.length, ...record }];
  const fields = sourceFields(records, schema);
  return { type: name, base, label: base, taxonomies: [], termBases: [], total: 1, samples: records, fields };
}

const site = (types: ProbedType[]): ProbedSite => ({
  cms: 'wordpress',
  url: 'http://site.example',
  name: 'Town',
  timezone: 'Europe/Paris',
  plugins: undefined,
  namespaces: [],
  account: undefined,
  types,
  taxonomies: [],
  typeById: { 7: 'troupe' },
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

  const podsEvent = () =>
    type('event', 'events', { start_date: '2031-05-01 19:30:00', end_date: '2031-05-01 21:00:00', cost: '12.50' });
  const pods = (fields: Json[]): RestConnection =>
    ({ call: async () => ({ json: { pods: [{ name: 'event', fields }, { name: 'other' }, null] } }) }) as never;
  const costOf = (event: ProbedType) => propose(site([event]))?.mapping.event.fields?.cost;

  it('gives a number field of Pods the codec of numbers', async () => {
    const event = podsEvent();
    await addPodsNumbers(pods([{ name: 'cost', type: 'currency', currency_format: 'i18n' }]), [event]);
    expect(costOf(event)).to.deep.equal({ at: 'cost', as: 'number', clearWith: '' });
  });

  it('writes a decimal comma if the field of Pods expects one', async () => {
    const event = podsEvent();
    await addPodsNumbers(pods([{ name: 'cost', type: 'number', number_format: '9.999,99' }]), [event]);
    expect(costOf(event)).to.deep.equal({ at: 'cost', as: { number: { decimal: ',' } }, clearWith: '' });
  });

  it('keeps a text field of Pods as text, whatever it holds', async () => {
    const event = podsEvent();
    await addPodsNumbers(pods([{ name: 'cost', type: 'text' }]), [event]);
    expect(costOf(event)).to.equal('cost');
  });

  it('keeps the fields as texts if the account may not see their types', async () => {
    const event = podsEvent();
    const refused = async () => {
      throw new CmsRejected('forbidden', 'Sorry, you are not allowed to do that.');
    };
    await addPodsNumbers({ call: refused } as never, [event]);
    expect(costOf(event)).to.equal('cost');
  });
});
