// Codec `currency`: a cost whose currency symbol, and the symbol's position, have paths of their own.

import { parseWritablePath, selectorOf, setAt, valueAt } from '../field-accessor.ts';
import type { CodecDefinition } from './codec.ts';
import { readText } from './text.ts';

interface CurrencyOptions {
  symbol: string;
  position: string;
  /** The CMS's words for "before the amount" and "after the amount". */
  positions?: [string, string];
}

// Blanks between symbol and amount would be lost, so `10 USD` does not match and is stored whole.
const AMOUNT = /^(?<before>[^\d.,\s]*)(?<amount>\d[\d.,]*)(?<after>[^\d.,\s]*)$/u;

/** Writing splits a cost with one amount and one symbol; any other text is stored whole, without a symbol. */
export const currency: CodecDefinition<CurrencyOptions> = {
  name: 'currency',
  fits: ['text'],
  onlyField: 'cost',
  optionsRequired: true,
  optionsSchema: {
    type: 'object',
    required: ['symbol', 'position'],
    additionalProperties: false,
    properties: {
      symbol: { $ref: '#/definitions/path' },
      position: { $ref: '#/definitions/path' },
      positions: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'string' } },
    },
  },
  metaType: () => ({ type: 'string' }),
  optionPaths: ({ symbol, position }) => [symbol, position],
  createAccessor: (path, { symbol, position, positions: [prefix, suffix] = ['prefix', 'suffix'] }, pointer) => {
    const symbolPath = parseWritablePath(symbol, `${pointer}/as/currency/symbol`);
    const positionPath = parseWritablePath(position, `${pointer}/as/currency/position`);
    return {
      read: (cmsRecord) => {
        const cost = readText(valueAt(cmsRecord, path)) ?? '';
        const sign = readText(valueAt(cmsRecord, symbolPath)) ?? '';
        // A cost that already has a symbol or words in it is complete.
        if (sign === '' || !/^[\d.,]+$/.test(cost)) return cost;
        return valueAt(cmsRecord, positionPath) === suffix ? cost + sign : sign + cost;
      },
      write: (value, { body }) => {
        const parts = AMOUNT.exec(String(value))?.groups;
        const before = parts?.before ?? '';
        const after = parts?.after ?? '';
        const hasOneSymbol = parts !== undefined && (before === '') !== (after === '');
        setAt(body, path, hasOneSymbol ? parts.amount : String(value));
        setAt(body, symbolPath, hasOneSymbol ? before || after : '');
        setAt(body, positionPath, hasOneSymbol && after !== '' ? suffix : prefix);
      },
      selectedPaths: [path, symbolPath, positionPath].map(selectorOf),
      location: [path.join('.'), symbol, position].join(', '),
    };
  },
};
