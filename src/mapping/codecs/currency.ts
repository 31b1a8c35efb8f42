// Codec `currency`: a cost whose currency symbol, its position and the currency's code have paths of their own.

import { decodeCost, encodeStoredCost, pluginCurrency } from '../../text/cost.ts';
import { type Path, parseWritablePath, selectorOf, setAt, valueAt } from '../field-accessor.ts';
import type { CodecDefinition } from './codec.ts';
import { readText } from './text.ts';

interface CurrencyOptions {
  symbol: string;
  position: string;
  /** The path of an ISO code, which is only read. */
  code?: string;
  /** The CMS's words for "before the amount" and "after the amount". */
  positions?: [string, string];
}

/** The CMS has the whole cost as text. Beside it, writing stores the symbol and position that The Events Calendar would. */
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
      code: { $ref: '#/definitions/path' },
      positions: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'string' } },
    },
  },
  metaType: () => ({ type: 'string' }),
  optionPaths: ({ symbol, position, code }) => [symbol, position, ...(code === undefined ? [] : [code])],
  createAccessor: (path, { symbol, position, code, positions = ['prefix', 'postfix'] }, pointer) => {
    const symbolPath = parseWritablePath(symbol, `${pointer}/as/currency/symbol`);
    const positionPath = parseWritablePath(position, `${pointer}/as/currency/position`);
    const codePath = code === undefined ? undefined : parseWritablePath(code, `${pointer}/as/currency/code`);
    const [prefix, postfix] = positions;
    const words = new Map([
      [prefix, 'prefix'],
      [postfix, 'postfix'],
    ]);
    return {
      read: (cmsRecord) => {
        const textAt = (at: Path | undefined): string => (at && readText(valueAt(cmsRecord, at))) ?? '';
        const place = textAt(positionPath);
        const beside = { symbol: textAt(symbolPath), position: words.get(place) ?? place, code: textAt(codePath) };
        return encodeStoredCost(textAt(path), beside);
      },
      write: (value, { body, current }) => {
        const stored = pluginCurrency(decodeCost(String(value)).cost);
        const place = { prefix, postfix, '': '' }[stored.position];
        setAt(body, path, String(value));
        // The plugin stores no empty row for a new event.
        for (const [at, text] of [
          [symbolPath, stored.symbol],
          [positionPath, place],
        ] as const)
          if (text !== '' || current) setAt(body, at, text);
      },
      selectedPaths: [path, symbolPath, positionPath, ...(codePath ? [codePath] : [])].map(selectorOf),
      location: [path.join('.'), symbol, position].join(', '),
      needsCurrent: true,
    };
  },
};
