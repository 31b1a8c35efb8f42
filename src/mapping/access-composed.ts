// Fields that a CMS keeps in several keys: a date in parts, a cost with its currency.

import type { Access } from './access.ts';
import { BadLine, writablePathOf } from './access.ts';
import { textCodec, type Zones } from './codecs.ts';
import { type Clock, dateTextCodec } from './codecs-dates.ts';
import { parseDateFormat } from './date-format.ts';
import { type Path, putAt, selectOf, valueAt } from './paths.ts';
import type { PartSource } from './source.ts';

const TWO_DIGITS = new Set(['d', 'm', 'H', 'h', 'i', 's']);

/**
 * A date in several keys, each with a format of its own; together they make one format. `clearWith` goes into each key.
 * Throws `BadLine`.
 */
export function partsAccess(parts: PartSource[], clock: Clock, below: string, clearWith: unknown): Access {
  // A sign that no format letter and no stored text has keeps the parts apart.
  const format = parseDateFormat(parts.map((part) => part.format).join('\n'));
  if (typeof format === 'string') throw new BadLine(`${below}/parts`, format);
  if (format.writeOnly !== undefined) throw new BadLine(`${below}/parts`, format.writeOnly);
  const codec = dateTextCodec(format, clock);
  const paths = parts.map((part, index) => writablePathOf(part.at, `${below}/parts/${index}/at`));
  return {
    read: (native, zones) => readParts(parts, paths, native, zones, codec.read),
    write: (value, { body, zones }) => {
      const texts = value === '' ? undefined : String(codec.write(value, zones)).split('\n');
      for (const [index, path] of paths.entries()) {
        const text = texts?.[index] ?? '';
        const number = parts[index]?.number === true && texts !== undefined;
        putAt(body, path, texts === undefined && clearWith !== undefined ? clearWith : number ? Number(text) : text);
      }
    },
    select: paths.map(selectOf),
    place: parts.map((part) => part.at).join(', '),
    needsZone: clock !== 'event',
    merges: false,
  };
}

function readParts(
  parts: PartSource[],
  paths: Path[],
  native: unknown,
  zones: Zones,
  read: (stored: unknown, zones: Zones) => unknown,
): unknown {
  const texts = paths.map((path, index) => {
    const text = String(textCodec.read(valueAt(native, path), zones) ?? '').trim();
    return TWO_DIGITS.has(parts[index]?.format ?? '') ? text.padStart(2, '0') : text;
  });
  // A date without a time is a day; the parts that are blank then say nothing.
  return read(texts.join('\n'), zones) ?? read(texts.find((text) => text !== '') ?? '', zones);
}

// Blanks would be lost between the two, so `10 USD` is kept as it is.
const AMOUNT = /^(?<before>[^\d.,\s]*)(?<amount>\d[\d.,]*)(?<after>[^\d.,\s]*)$/u;

/** A cost of one amount whose sign is kept beside it, before or behind; any other text is kept whole, without a sign. */
export function currencyAccess(
  path: Path,
  currency: { symbol: string; position: string; positions?: [string, string] },
  below: string,
): Access {
  const symbolPath = writablePathOf(currency.symbol, `${below}/as/currency/symbol`);
  const positionPath = writablePathOf(currency.position, `${below}/as/currency/position`);
  const [prefix, suffix] = currency.positions ?? ['prefix', 'suffix'];
  return {
    read: (native, zones) => {
      const cost = String(textCodec.read(valueAt(native, path), zones) ?? '');
      const symbol = String(textCodec.read(valueAt(native, symbolPath), zones) ?? '');
      // A cost that was typed in with its sign, or has words in it, is complete.
      if (symbol === '' || !/^[\d.,]+$/.test(cost)) return cost;
      return valueAt(native, positionPath) === suffix ? cost + symbol : symbol + cost;
    },
    write: (value, { body }) => {
      const found = AMOUNT.exec(String(value))?.groups;
      const before = found?.before ?? '';
      const after = found?.after ?? '';
      const single = found !== undefined && (before === '') !== (after === '');
      putAt(body, path, single ? found.amount : String(value));
      putAt(body, symbolPath, single ? before || after : '');
      putAt(body, positionPath, single && after !== '' ? suffix : prefix);
    },
    select: [path, symbolPath, positionPath].map(selectOf),
    place: [path.join('.'), currency.symbol, currency.position].join(', '),
    needsZone: false,
    merges: false,
  };
}
