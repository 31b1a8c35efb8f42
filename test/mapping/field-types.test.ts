// What was read can be written back: property tests over codecs with the field types of real plugins.

import { expect } from 'chai';
import fc from 'fast-check';
import { normalizeCost, numericCost, serializeCost } from '../../src/calendar/cost.ts';
import type { CmsRecord } from '../../src/cms/port.ts';
import type { Config } from '../../src/config-schema.ts';
import { FIELDS } from '../../src/interface/fields.ts';
import type { KindMapping } from '../../src/mapping/mapping.ts';
import { parsePath, readAt } from '../../src/mapping/paths.ts';
import { setAt } from '../../src/model/json.ts';
import { decodeCost, encodeCost } from '../../src/text/cost.ts';
import { decodeEntities } from '../../src/text/html.ts';
import { ACF_TYPES, type FieldType, PODS_TYPES } from './field-types.ts';
import { mappingWith, site } from './samples.ts';

interface Subject {
  mapping: KindMapping<'event' | 'organizer'>;
  key: string;
  path: readonly (string | number)[];
}

function subjectOf({ field, source, kind = 'event' }: FieldType): Subject {
  const fields = { [field]: source };
  const mapping = kind === 'event' ? mappingWith(fields) : mappingWith({}, { organizer: { posts: 'o', fields } });
  const path = parsePath(typeof source === 'string' ? source : source.at!)!;
  return { mapping: mapping.kinds[kind] as Subject['mapping'], key: FIELDS[kind][field]!.property, path };
}

function read({ mapping, key, path }: Subject, stored: unknown): unknown {
  const cmsRecord: CmsRecord = { id: 1 };
  setAt(cmsRecord, path, stored);
  return Reflect.get(mapping.read(cmsRecord, site), key);
}

const write = ({ mapping, key, path }: Subject, value: unknown): unknown =>
  readAt(mapping.write({ [key]: value } as never, { site }), path);

const SETTINGS: Config['cost'] = { symbol: '$', position: 'prefix', code: '' };
/** The value that a client reads. */
const shown = (key: string, value: unknown): unknown =>
  key === 'cost' ? decodeEntities(serializeCost(decodeCost(String(value)), SETTINGS).fields.cost) : value;
/** The value that the client's write of it becomes. */
const sent = ({ mapping, key }: Subject, value: unknown): unknown => {
  if (key !== 'cost') return value;
  const cost = normalizeCost(value);
  return encodeCost(mapping.storedAsNumber.has('cost') ? numericCost(cost, SETTINGS) : cost);
};

function testWriteBack(plugin: string, types: readonly FieldType[]): void {
  for (const fieldType of types) {
    const subject = subjectOf(fieldType);
    it(`${plugin}, ${fieldType.type}: what was read can be written back`, () => {
      for (const stored of fieldType.stored) {
        const value = read(subject, stored);
        const after = fieldType.afterWrite(write(subject, sent(subject, shown(subject.key, value))));
        expect(shown(subject.key, read(subject, after)), JSON.stringify(stored)).to.deep.equal(
          shown(subject.key, value),
        );
      }
    });
    it(`${plugin}, ${fieldType.type}: can be cleared`, () => {
      const none = read(subject, fieldType.stored[0]);
      if (none === undefined || typeof none === 'boolean' || subject.key === 'start') return;
      expect(read(subject, fieldType.afterWrite(write(subject, none)))).to.deep.equal(none);
    });
    for (const value of fieldType.refused ?? [])
      it(`${plugin}, ${fieldType.type}: refuses ${JSON.stringify(value)}, and names the parameter`, () => {
        expect(() => write(subject, sent(subject, value))).to.throw(`Invalid parameter(s): ${fieldType.field}`);
      });
  }
}

describe('field types of plugins', () => {
  testWriteBack('Advanced Custom Fields', ACF_TYPES);
  testWriteBack('Pods', PODS_TYPES);

  const number = subjectOf(ACF_TYPES.find(({ type }) => type === 'number')!);

  it('a number that a client reads can be written back', () => {
    const numbers = fc
      .tuple(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), fc.integer({ min: 0, max: 5 }))
      .map(([digits, scale]) => digits / 10 ** scale);
    const settings = fc.record({
      symbol: fc.constantFrom('$', '€', 'CHF', 'kr'),
      position: fc.constantFrom<Config['cost']['position']>('prefix', 'postfix'),
      code: fc.constant(''),
    });
    fc.assert(
      fc.property(numbers, settings, (stored, currency) => {
        const response = serializeCost(decodeCost(String(read(number, stored))), currency).fields.cost;
        expect(write(number, numericCost(normalizeCost(response), currency))).to.equal(stored);
      }),
    );
  });

  it('a number field stores the number that was sent, or refuses it', () => {
    const plain = fc.stringMatching(/^-?\d{1,20}(\.\d{1,8})?$/);
    fc.assert(
      fc.property(fc.oneof(plain, fc.string()), (text) => {
        let stored: unknown;
        try {
          stored = write(number, text);
        } catch (error) {
          expect((error as Error).message).to.include('cost');
          return;
        }
        if (text === '') return;
        // BigInt has no rounding.
        const scaled = (decimal: string): bigint => {
          const [whole = '', fraction = ''] = decimal.trim().replace('-', '').split('.');
          return BigInt(whole + fraction.padEnd(20, '0'));
        };
        expect(scaled(String(read(number, stored)))).to.equal(scaled(text));
      }),
      { numRuns: 1000 },
    );
  });
});
