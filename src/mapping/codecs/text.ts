// Codecs `text` and `html`: texts that the CMS stores as the API has them. `text` also reads a number; `html`
// reads texts only, and trims them.

import type { CodecDefinition } from './codec.ts';

export function readText(stored: unknown): string | undefined {
  if (typeof stored === 'string') return stored;
  return typeof stored === 'number' && Number.isFinite(stored) ? String(stored) : undefined;
}

export const text: CodecDefinition<never> = {
  name: 'text',
  fits: ['text', 'html', 'zone'],
  defaultFor: ['text'],
  create: () => ({ read: readText, write: String }),
};

export const html: CodecDefinition<never> = {
  name: 'html',
  fits: ['html'],
  defaultFor: ['html'],
  create: () => ({ read: (stored) => (typeof stored === 'string' ? stored.trim() : undefined), write: String }),
};
