// Codec `word`: one of the API's words for a field, for which the CMS may have forms of its own:
// `{ "word": { "cancelled": "canceled" } }`.

import { ATTENDANCE_MODES, EVENT_STATUSES } from '../../model/event-state.ts';
import { type CodecDefinition, UnrepresentableValue } from './codec.ts';

/** The CMS's forms, by the words of the API. */
type Forms = Readonly<Record<string, string | number>>;

/** A form that stands for no word, such as one that a plugin has added, reads as if nothing were stored. */
export const word: CodecDefinition<Forms> = {
  name: 'word',
  fits: ['word'],
  defaultFor: ['word'],
  optionsSchema: {
    type: 'object',
    propertyNames: { enum: [...EVENT_STATUSES, ...ATTENDANCE_MODES] },
    additionalProperties: { type: ['string', 'number'] },
  },
  metaType: (forms = {}) => ({ type: typeof Object.values(forms)[0] === 'number' ? 'integer' : 'string' }),
  create: (options, { words = [] }) => {
    const forms = new Map(options ? Object.entries(options) : words.map((each) => [each, each]));
    return {
      // WordPress sends a number of a plugin as text, `"1"`, and people type `Cancelled` into a form.
      read: (stored) => words.find((each) => String(forms.get(each)) === String(stored).trim().toLowerCase()),
      write: (value) => {
        const form = value === '' ? '' : forms.get(String(value));
        if (form === undefined)
          throw new UnrepresentableValue(`only ${[...forms.keys()].join(', ')} can be stored here`);
        return form;
      },
    };
  },
};
