// Codec `lexical`: rich text as Payload's editor Lexical stores it, for writing only. Payload itself makes HTML of it
// (`lexicalHTMLField`), in a field of its own that the mapping reads.

import { MappingFieldError } from '../field-accessor.ts';
import type { CodecDefinition } from './codec.ts';
import { htmlToLexical } from './html-to-lexical.ts';

export const lexical: CodecDefinition<never> = {
  name: 'lexical',
  fits: ['html'],
  metaType: () => ({ type: 'object' }),
  create: (_options, { pointer, writeOnly }) => {
    if (!writeOnly)
      throw new MappingFieldError(
        pointer,
        'is for "write" only: "read" a field with the HTML that Payload makes of it',
      );
    return { read: () => undefined, write: (value) => htmlToLexical(String(value)) };
  },
};
