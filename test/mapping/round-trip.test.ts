// What a mapping writes reads back the same.

import { expect } from 'chai';
import fc from 'fast-check';
import { FIELDS } from '../../src/mapping/fields.ts';
import { loadMapping, mappingNames } from '../../src/mapping/load.ts';
import type { KindMapping } from '../../src/mapping/mapping.ts';
import type { EventFields, EventRecord, Kind } from '../../src/records.ts';
import { formatWall } from '../../src/time/wall.ts';
import type { Native } from '../../src/upstream/port.ts';
import { mappingWith, site } from './samples.ts';

// Hours that no clock skips or repeats: which of two readings is meant is not the mapping's business.
const wall = fc
  .tuple(fc.integer({ min: 0, max: 36_500 }), fc.integer({ min: 4 * 3600, max: 86_399 }))
  .map(([day, second]) => formatWall(Date.UTC(1971, 0, 1) + (day * 86_400 + second) * 1000));
const zone = fc.constantFrom('America/New_York', 'Europe/Paris', 'Asia/Kathmandu', 'UTC', '+02:00', 'UTC-3.5', 'EST');
const ids = fc.uniqueArray(fc.integer({ min: 1, max: 1e9 }), { maxLength: 5 });
const words = fc.string({ unit: 'binary', maxLength: 40 });

/** What the CMS answers after a write: what was sent, rendered, with the names that reading uses. */
function answered(body: Native, before: Native = { id: 1 }): Native {
  const native: Native = { ...before, ...body };
  for (const key of ['title', 'content', 'excerpt'])
    if (typeof body[key] === 'string') native[key] = { raw: body[key], rendered: body[key] };
  if (typeof body.meta === 'object') native.meta = { ...(before.meta as object), ...body.meta };
  return native;
}

function writtenAndRead(fields: object, values: Partial<EventFields>): EventRecord {
  const event = mappingWith(fields).kinds.event;
  return event.read(answered(event.write(values, { site })), site);
}

/** Lines of a date, and how exact they are, in seconds. */
const dateLines: [string, object, number][] = [
  ['local text', { at: 'meta.s' }, 1],
  ['without seconds', { at: 'meta.s', as: { 'local-datetime': 'Y-m-d H:i' } }, 60],
  ['of twelve hours', { at: 'meta.s', as: { 'local-datetime': 'M j, Y h:i:s a' } }, 1],
  ['packed', { at: 'meta.s', as: { 'local-datetime': 'YmdHis' } }, 1],
  ['with a T', { at: 'meta.s', as: { 'local-datetime': 'Y-m-d\\TH:i:s' } }, 1],
  ['with month names', { at: 'meta.s', as: { 'local-datetime': 'j F Y G.i.s' } }, 1],
  ['in UTC', { at: 'meta.s', as: 'utc-datetime' }, 1],
  ['in site time', { at: 'meta.s', as: 'site-datetime' }, 1],
  ['as seconds', { at: 'meta.s', as: 'unix' }, 1],
  ['as seconds in text', { at: 'meta.s', as: { unix: { asText: true } } }, 1],
  ['as wall-clock seconds', { at: 'meta.s', as: { unix: { wallClockAsUtc: true } } }, 1],
  ['in a JSON text', { at: 'meta.j', json: 'when.from' }, 1],
  [
    'in two keys',
    {
      parts: [
        { at: 'meta.d', format: 'Ymd' },
        { at: 'meta.t', format: 'h:i:s A' },
      ],
    },
    1,
  ],
  [
    'in four keys, in UTC',
    {
      clock: 'utc',
      parts: [
        { at: 'meta.d', format: 'd/m/Y' },
        { at: 'meta.h', format: 'g', number: true },
        { at: 'meta.m', format: 'i', number: true },
        { at: 'meta.a', format: 'a' },
      ],
    },
    60,
  ],
];

describe('what a mapping writes reads back the same', () => {
  for (const [name, line, exactS] of dateLines)
    it(`a date ${name}`, () => {
      fc.assert(
        fc.property(wall, zone, (start, timezone) => {
          const record = writtenAndRead({ start_date: line, timezone: 'meta.zone' }, { start, timezone });
          expect(record.start).to.equal(exactS === 60 ? `${start.slice(0, 16)}:00` : start);
          expect(record.timezone).to.equal(timezone);
        }),
      );
    });

  it('a flag in any spelling', () => {
    const spelling = fc.constantFrom<[unknown, unknown]>(
      [true, false],
      ['yes', 'no'],
      ['no', 'yes'],
      [1, 0],
      [0, 1],
      ['1', ''],
      ['true', 'false'],
      ['on', null],
    );
    fc.assert(
      fc.property(spelling, fc.boolean(), (pair, showMap) => {
        const line = { at: 'meta.f', as: { boolean: pair } };
        if (pair[1] === null && !showMap) return;
        expect(writtenAndRead({ show_map: line }, { showMap }).showMap).to.equal(showMap);
      }),
    );
  });

  it('a flag whose type the CMS changes', () => {
    const event = mappingWith({ featured: { at: 'meta.f', as: { boolean: [1, 0] } } }).kinds.event;
    for (const [stored, meant] of [
      ['1', true],
      ['0', false],
      [true, true],
      [false, false],
      ['yes', true],
      ['', false],
      [null, false],
      [[], false],
    ])
      expect(event.read({ id: 1, meta: { f: stored } }, site).featured, JSON.stringify(stored)).to.equal(meant);
  });

  it('ids in any form that holds several', () => {
    const form = fc.constantFrom('list', 'csv', 'objects');
    fc.assert(
      fc.property(form, ids, (name, organizers) => {
        expect(
          writtenAndRead({ organizer: { at: 'meta.o', as: { ids: name } } }, { organizers }).organizers,
        ).to.deep.equal(organizers);
      }),
    );
  });

  it('a single id, and refuses two', () => {
    for (const form of ['one', 'one-in-list']) {
      const line = { venue: { at: 'meta.v', as: { ids: form } } };
      expect(writtenAndRead(line, { venues: [7] }).venues).to.deep.equal([7]);
      expect(writtenAndRead(line, { venues: [] }).venues).to.deep.equal([]);
      expect(() => writtenAndRead(line, { venues: [7, 8] })).to.throw('Invalid parameter(s): venue');
    }
  });

  it('text of any signs', () => {
    fc.assert(
      fc.property(words, words, (cost, website) => {
        const record = writtenAndRead({ cost: 'meta.c', website: { at: 'meta.j', json: 'a.b' } }, { cost, website });
        expect(record.cost).to.equal(cost);
        expect(record.website).to.equal(website);
      }),
    );
  });

  it('a cost with its sign beside it', () => {
    const line = { cost: { at: 'meta.c', as: { currency: { symbol: 'meta.s', position: 'meta.p' } } } };
    for (const cost of [
      '',
      '10',
      '$10',
      '10€',
      '10.50',
      '$1,000',
      '10 - 20',
      'Free',
      '$10 - $20',
      'from 5',
      '10 USD',
      ' 7',
      '.',
    ])
      expect(writtenAndRead(line, { cost }).cost, cost).to.equal(cost);
  });

  it('a cost kept as a number, and refuses words', () => {
    const line = { cost: { at: 'meta.c', as: 'number', clearWith: null } };
    for (const cost of ['', '10', '0', '10.5']) expect(writtenAndRead(line, { cost }).cost).to.equal(cost);
    expect(() => writtenAndRead(line, { cost: 'Free' })).to.throw('Invalid parameter(s): cost');
  });

  it('whole days in a format without time, and refuses hours', () => {
    const day = (at: string): object => ({ at, as: { 'local-datetime': 'Ymd' } });
    const lines = { start_date: day('meta.s'), end_date: day('meta.e'), all_day: 'meta.a' };
    const whole = { start: '2027-05-01 00:00:00', end: '2027-05-02 23:59:59', allDay: true };
    expect(writtenAndRead(lines, whole)).to.include(whole);
    expect(() => writtenAndRead(lines, { start: '2027-05-01 10:00:00' })).to.throw('Invalid parameter(s): start_date');
  });

  for (const name of mappingNames()) {
    const kinds = loadMapping(name).kinds as Partial<Record<Kind, KindMapping<Kind>>>;
    for (const [kind, mapping] of Object.entries(kinds) as [Kind, KindMapping<Kind>][])
      if (!mapping.readOnly && !mapping.joins)
        it(`whole records: ${name}, ${kind}`, () => {
          fc.assert(
            fc.property(valuesOf(kind, mapping), (values) => {
              const native = answered(mapping.write(values as never, { site }));
              const derived = forReading(native);
              expect(mapping.read(derived, site)).to.deep.include(values);
            }),
            { numRuns: 50 },
          );
        });
  }
});

/** Values for every writable field of a kind. */
function valuesOf(kind: Kind, mapping: KindMapping<Kind>): fc.Arbitrary<Record<string, unknown>> {
  const arbitraries: Record<string, fc.Arbitrary<unknown>> = {};
  for (const info of Object.values(FIELDS[kind])) {
    if (!(mapping.writable as ReadonlySet<string>).has(info.key)) continue;
    arbitraries[info.key] = {
      text:
        info.key === 'status'
          ? fc.constantFrom('publish', 'private', 'future')
          : info.key === 'website'
            ? fc.webUrl()
            : words,
      html: words.map((text) => text.trim()),
      boolean: info.key === 'allDay' ? fc.constant(false) : fc.boolean(),
      number: fc.integer({ min: 0, max: 1e9 }),
      ids: ids.map((list) => (info.key === 'venues' ? list.slice(0, 1) : list)),
      wall,
      'site-time': wall,
      'utc-time': wall,
      zone: fc.constantFrom('America/New_York', 'Europe/Paris', '+02:00'),
    }[info.type];
  }
  return fc.record(arbitraries);
}

/** Keys that a plugin derives from what was written. */
function forReading(native: Native): Native {
  const meta = native.meta as Record<string, unknown> | undefined;
  if (typeof meta?.gatherpress_datetime !== 'string') return native;
  const dates = JSON.parse(meta.gatherpress_datetime) as Record<string, string>;
  return {
    ...native,
    meta: {
      ...meta,
      gatherpress_datetime_start: dates.dateTimeStart,
      gatherpress_datetime_end: dates.dateTimeEnd,
      gatherpress_timezone: dates.timezone,
    },
  };
}
