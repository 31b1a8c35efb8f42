// Codec `link`: the address of a record's page, made of a template and a stored text. For a CMS that does not know the
// addresses of its pages.

import { type CodecDefinition, UnrepresentableValue } from './codec.ts';
import { readText } from './text.ts';

const PLACEHOLDER = '{}';

export const link: CodecDefinition<string> = {
  name: 'link',
  fits: ['text'],
  onlyField: 'url',
  optionsSchema: { type: 'string', pattern: '^https?://[^{}]+\\{\\}[^{}]*$', maxLength: 1000 },
  optionsRequired: true,
  create: (template = PLACEHOLDER) => ({
    read(stored) {
      const text = readText(stored);
      return text ? template.replace(PLACEHOLDER, () => encodeURIComponent(text.toWellFormed())) : undefined;
    },
    write() {
      throw new UnrepresentableValue('the address of the page cannot be changed');
    },
  }),
};
