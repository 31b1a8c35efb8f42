// Codec `currency`: a cost whose currency symbol, its position and the currency's code have paths of their own.

import { decodeCost, encodeStoredCost, pluginCurrency } from '../../text/cost.ts';
import { type Path, parseWritablePath, selectorOf, setAt, valueAt } from '../field-accessor.ts';
import { type CodecDefinition, optionsOf, PATH_SCHEMA } from './codec.ts';
import { readText } from './text.ts';

interface CurrencyOptions {
  symbol: string;
  position: string;
  /** The path of an ISO code, which is only read. */
  code?: string;
}

/**
 * The CMS has the whole cost as text. Beside it, writing stores the symbol and position that The Events Calendar would.
 */
export const currency: CodecDefinition<CurrencyOptions> = {
  name: 'currency',
  fits: ['text'],
  onlyField: 'cost',
  optionsRequired: true,
  optionsSchema: optionsOf({ symbol: PATH_SCHEMA, position: PATH_SCHEMA, code: PATH_SCHEMA }, ['symbol', 'position']),
  createAccessor: (path, { symbol, position, code }, pointer) => {
    const symbolPath = parseWritablePath(symbol, `${pointer}/as/currency/symbol`);
    const positionPath = parseWritablePath(position, `${pointer}/as/currency/position`);
    const codePaths = code === undefined ? [] : [parseWritablePath(code, `${pointer}/as/currency/code`)];
    return {
      read: (cmsRecord) => {
        const textAt = (at: Path): string => readText(valueAt(cmsRecord, at)) ?? '';
        const [code = ''] = codePaths.map(textAt);
        return encodeStoredCost(textAt(path), { symbol: textAt(symbolPath), position: textAt(positionPath), code });
      },
      write: (value, { body, current }) => {
        const stored = pluginCurrency(decodeCost(String(value)).cost);
        // The plugin stores no empty row for a new event.
        if (value !== '' || current) setAt(body, path, String(value));
        if (stored.symbol !== '' || current) setAt(body, symbolPath, stored.symbol);
        if (stored.position !== '' || current) setAt(body, positionPath, stored.position);
      },
      selectedPaths: [path, symbolPath, positionPath, ...codePaths].map(selectorOf),
      writtenPaths: [path.join('.'), symbol, position],
      needsCurrent: true,
    };
  },
};
