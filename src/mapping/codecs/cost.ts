// Codecs of a cost, parts of which have paths of their own: `currency`, with its symbol, position and code, and
// `ticket`, which says in another key whether the event is free or paid.

import { setAt } from '../../model/json.ts';
import { decodeCost, encodeStoredCost, pluginCurrency } from '../../text/cost.ts';
import type { CodecDefinition } from '../field-accessor.ts';
import { type Path, parseWritablePath, readAt, selectorOf, textAt } from '../paths.ts';

interface CurrencyOptions {
  symbol: string;
  position: string;
  /** The path of an ISO code, which is only read. */
  code?: string;
}

/** The CMS has the whole cost as text. A write stores symbol and position beside it, as The Events Calendar does. */
export const currency: CodecDefinition<CurrencyOptions> = {
  fits: ['text'],
  onlyField: 'cost',
  createAccessor: (path, { symbol, position, code }, pointer) => {
    const symbolPath = parseWritablePath(symbol, `${pointer}/as/currency/symbol`);
    const positionPath = parseWritablePath(position, `${pointer}/as/currency/position`);
    const codePath = code === undefined ? undefined : parseWritablePath(code, `${pointer}/as/currency/code`);
    return {
      read: (cmsRecord) => {
        const textOf = (at: Path | undefined) => (at ? textAt(cmsRecord, at) : '');
        const beside = { symbol: textOf(symbolPath), position: textOf(positionPath), code: textOf(codePath) };
        return encodeStoredCost(textOf(path), beside);
      },
      write: (value, { body, current }) => {
        // `value` is of `encodeCost`. The plugin stores `€12` whole, and `€` beside it.
        const stored = pluginCurrency(decodeCost(String(value)).cost);
        // Only an update has `current`: for a new event the plugin stores no empty row.
        if (value !== '' || current) setAt(body, path, String(value));
        if (stored.symbol !== '' || current) setAt(body, symbolPath, stored.symbol);
        if (stored.position !== '' || current) setAt(body, positionPath, stored.position);
      },
      selectedPaths: [path, symbolPath, positionPath, ...(codePath ? [codePath] : [])].map(selectorOf),
      storedPaths: [path.join('.'), symbol, position],
      needsCurrent: true,
    };
  },
};

interface TicketOptions {
  /** The path of the key. */
  option: string;
  /** The CMS's words; default `paid` and `free`. */
  paid?: string;
  free?: string;
}

const FREE = 'Free';

const isZero = (text: string): boolean => text.trim() !== '' && Number(text) === 0;

/** A free event reads as `Free`, or as its price if that is zero. Another price was stored before it became free. */
export const ticket: CodecDefinition<TicketOptions> = {
  fits: ['text'],
  onlyField: 'cost',
  createAccessor: (path, { option, paid = 'paid', free = 'free' }, pointer) => {
    const optionPath = parseWritablePath(option, `${pointer}/as/ticket/option`);
    return {
      read: (cmsRecord) => {
        const price = textAt(cmsRecord, path);
        return readAt(cmsRecord, optionPath) !== free || isZero(price) ? price : FREE;
      },
      write: (value, { body }) => {
        const cost = String(value);
        const isFree = cost.toLowerCase() === FREE.toLowerCase();
        setAt(body, path, isFree ? '' : cost);
        setAt(body, optionPath, cost === '' ? '' : isFree || isZero(cost) ? free : paid);
      },
      selectedPaths: [path, optionPath].map(selectorOf),
      storedPaths: [path.join('.'), option],
    };
  },
};
