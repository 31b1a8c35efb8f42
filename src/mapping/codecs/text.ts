// Codec `text`: plain text. A stored number reads as text too.

import type { CodecDefinition } from './codec.ts';

export function readText(stored: unknown): string | undefined {
  if (typeof stored === 'string') return stored;
  return typeof stored === 'number' && Number.isFinite(stored) ? String(stored) : undefined;
}

export const text: CodecDefinition<never> = {
  name: 'text',
  fits: ['text', 'html', 'zone'],
  defaultFor: ['text'],
  metaType: () => ({ type: 'string' }),
  create: () => ({ read: readText, write: String }),
};
