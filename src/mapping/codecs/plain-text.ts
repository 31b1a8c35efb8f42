// Codec `plain-text`: the CMS stores plain text where the API has HTML, as in a title. Reading escapes it, writing
// removes tags and entities.

import { decodeEntities, escapeMarkup, removeScripts, replaceTags } from '../../text/html.ts';
import type { CodecDefinition } from './codec.ts';
import { readText } from './text.ts';

export const plainText: CodecDefinition<never> = {
  name: 'plain-text',
  fits: ['text', 'html'],
  metaType: () => ({ type: 'string' }),
  create: () => ({
    read: (stored) => {
      const text = readText(stored);
      return text === undefined ? undefined : escapeMarkup(text);
    },
    write: (value) => decodeEntities(replaceTags(removeScripts(String(value)), () => '')),
  }),
};
