// Codec `number`: an integer such as an id, or a text field whose value the CMS stores as a number.

import { type Codec, type CodecDefinition, UnrepresentableValue } from './codec.ts';
import { readText } from './text.ts';

export function readInteger(stored: unknown): number | undefined {
  const number = typeof stored === 'string' && stored.trim() !== '' ? Number(stored) : stored;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

const integer: Codec = { read: readInteger, write: Number };

const numericText: Codec = {
  read: readText,
  write: (value) => {
    const text = String(value).trim();
    if (!/^-?\d+(?:\.\d+)?$/.test(text)) throw new UnrepresentableValue('only a number can be stored here');
    return Number(text);
  },
};

export const number: CodecDefinition<never> = {
  name: 'number',
  fits: ['number', 'text'],
  defaultFor: ['number'],
  metaType: (_options, type) => ({ type: type === 'text' ? 'number' : 'integer' }),
  create: (_options, { type }) => (type === 'text' ? numericText : integer),
};
