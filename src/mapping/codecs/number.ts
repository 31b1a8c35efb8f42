// Codecs `number`, an integer such as an id, or a text field whose value the CMS stores as a number; and `coordinate`,
// the latitude or longitude of a venue.

import { parseNumber } from '../../interface/param-types.ts';
import { type Codec, type CodecDefinition, optionsOf, UnrepresentableValue } from './codec.ts';
import { readText } from './text.ts';

interface NumberOptions {
  /** The CMS reads a decimal mark other than a point: the gateway writes the number as text with this mark. */
  decimal?: ',';
}

export function readInteger(stored: unknown): number | undefined {
  const number = typeof stored === 'string' && stored.trim() !== '' ? Number(stored) : stored;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

const MAX_DIGITS = 15;

const integer: Codec = { read: readInteger, write: Number };

const numericText = ({ decimal }: NumberOptions): Codec => ({
  read: (stored) => (typeof stored === 'number' && Number.isFinite(stored) ? plainDecimal(stored) : readText(stored)),
  write: (value) => {
    const text = String(value).trim();
    if (!/^-?(?:\d+(?:\.\d+)?|\.\d+)$/.test(text)) throw new UnrepresentableValue('only a number can be stored here');
    // A postal code or a telephone number would come back as another one.
    if (/^-?0\d/.test(text)) throw new UnrepresentableValue('only a number without leading zeros can be stored here');
    // More digits than a floating-point number has would come back as another number.
    if (text.replace(/\D/g, '').length > MAX_DIGITS)
      throw new UnrepresentableValue(`only a number of at most ${MAX_DIGITS} digits can be stored here`);
    return decimal === undefined ? Number(text) : text.replace('.', decimal);
  },
  isNumeric: true,
});

/** Without an exponent, which readers of a cost would take for a second number. */
const plainDecimal = (number: number): string =>
  number.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 });

export const number: CodecDefinition<NumberOptions> = {
  name: 'number',
  fits: ['number', 'text'],
  defaultFor: ['number'],
  optionsSchema: optionsOf({ decimal: { enum: [','] } }),
  metaType: (options, type) => {
    if (type !== 'text') return { type: 'integer' };
    return { type: options?.decimal === undefined ? 'number' : 'string' };
  },
  create: (options, { type }) => (type === 'text' ? numericText(options ?? {}) : integer),
};

/** Plugins store coordinates as text, and a field for numbers accepts such a text too. */
export const coordinate: CodecDefinition<never> = {
  name: 'coordinate',
  fits: ['coordinate'],
  defaultFor: ['coordinate'],
  create: () => ({ read: parseNumber, write: (value) => (value === null ? '' : String(value)) }),
};
