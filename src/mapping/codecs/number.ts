// Codec `number`: an integer such as an id, or a text field whose value the CMS stores as a number.

import { type Codec, type CodecDefinition, UnrepresentableValue } from './codec.ts';
import { readText } from './text.ts';

interface NumberOptions {
  /** The CMS reads a decimal mark other than a point: the gateway writes the number as text with this mark. */
  decimal?: ',';
}

export function readInteger(stored: unknown): number | undefined {
  const number = typeof stored === 'string' && stored.trim() !== '' ? Number(stored) : stored;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

const integer: Codec = { read: readInteger, write: Number };

const numericText = ({ decimal }: NumberOptions): Codec => ({
  read: (stored) => (typeof stored === 'number' && Number.isFinite(stored) ? plainDecimal(stored) : readText(stored)),
  write: (value) => {
    const text = String(value).trim();
    if (!/^-?(?:\d+(?:\.\d+)?|\.\d+)$/.test(text)) throw new UnrepresentableValue('only a number can be stored here');
    // A postal code or a telephone number would come back as another one.
    if (/^-?0\d/.test(text)) throw new UnrepresentableValue('only a number without leading zeros can be stored here');
    // More digits than a floating-point number has would come back as another number.
    if (plainDecimal(Number(text)) !== withoutRedundantZeros(text))
      throw new UnrepresentableValue('only a number of at most 15 digits can be stored here');
    return decimal === undefined ? Number(text) : plainDecimal(Number(text)).replace('.', decimal);
  },
  isNumeric: true,
});

/** Without an exponent, which readers of a cost would take for a second number. */
const plainDecimal = (number: number): string =>
  number.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 });

function withoutRedundantZeros(text: string): string {
  const [sign, digits] = text.startsWith('-') ? ['-', text.slice(1)] : ['', text];
  const [whole = '', fraction = ''] = digits.split('.');
  const significant = fraction.replace(/(?<!0)0+$/, '');
  const plain = (whole || '0') + (significant === '' ? '' : `.${significant}`);
  return plain === '0' ? plain : sign + plain;
}

export const number: CodecDefinition<NumberOptions> = {
  name: 'number',
  fits: ['number', 'text'],
  defaultFor: ['number'],
  optionsSchema: { type: 'object', additionalProperties: false, properties: { decimal: { enum: [','] } } },
  metaType: (options, type) => {
    if (type !== 'text') return { type: 'integer' };
    return { type: options?.decimal === undefined ? 'number' : 'string' };
  },
  create: (options, { type }) => (type === 'text' ? numericText(options ?? {}) : integer),
};
