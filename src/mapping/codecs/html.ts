// Codec `html`: HTML that the CMS renders. Reading trims it.

import type { CodecDefinition } from './codec.ts';

export const html: CodecDefinition<never> = {
  name: 'html',
  fits: ['html'],
  defaultFor: ['html'],
  metaType: () => ({ type: 'string' }),
  create: () => ({ read: (stored) => (typeof stored === 'string' ? stored.trim() : undefined), write: String }),
};
