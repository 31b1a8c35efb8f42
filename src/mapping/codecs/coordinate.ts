// Codec `coordinate`: the latitude or longitude of a venue, as a number or as text.

import { parseNumber } from '../../interface/param-types.ts';
import type { CodecDefinition } from './codec.ts';

/** Plugins store coordinates as text, and a field for numbers accepts such a text too. */
export const coordinate: CodecDefinition<never> = {
  name: 'coordinate',
  fits: ['coordinate'],
  defaultFor: ['coordinate'],
  metaType: () => ({ type: 'string' }),
  create: () => ({ read: parseNumber, write: (value) => (value === null ? '' : String(value)) }),
};
