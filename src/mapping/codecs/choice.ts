// Codecs of a choice between few values, each of which the CMS may store in a form of its own: `boolean`, such as
// `{ "boolean": ["yes", "no"] }`, and `word`, such as `{ "word": { "cancelled": "canceled" } }`.

import { type CodecDefinition, type MetaType, UnrepresentableValue } from '../field-accessor.ts';

type Form = string | number | boolean | null;
type BooleanForms = readonly [whenTrue: Form, whenFalse: Form];

const DEFAULT_FORMS: BooleanForms = [true, false];
const META_TYPES: Readonly<Record<string, MetaType['type']>> = { boolean: 'boolean', number: 'integer' };
const COMMON_TRUE_TEXTS = new Set(['true', '1', 'yes', 'on']);

function read(stored: unknown, forms: BooleanForms): boolean | undefined {
  if (stored === null) return forms.includes(null) ? forms[0] === null : undefined;
  if (stored === undefined || typeof stored === 'object') return undefined;
  // As texts, because the CMS may have made "1" of 1.
  const text = String(stored).toLowerCase();
  const form = forms.findIndex((each) => String(each).toLowerCase() === text);
  if (form >= 0) return form === 0;
  return text === '' ? undefined : COMMON_TRUE_TEXTS.has(text.trim());
}

export const boolean: CodecDefinition<BooleanForms> = {
  fits: ['boolean'],
  defaultFor: ['boolean'],
  metaType: (forms = DEFAULT_FORMS, { empty }) => {
    const type = META_TYPES[typeof forms[0]] ?? 'string';
    if (forms[1] === null) return { type, absentWhenFalse: true };
    // A blank text that is neither form reads as the empty value: such a key needs no default.
    const emptyForm = forms[empty === true ? 0 : 1];
    return emptyForm !== null && (type !== 'string' || forms.includes('')) ? { type, default: emptyForm } : { type };
  },
  create: (forms = DEFAULT_FORMS) => ({
    read: (stored) => read(stored, forms),
    write: (value) => (value ? forms[0] : forms[1]),
  }),
};

/** The CMS's forms, by the words of the API. */
type WordForms = Readonly<Record<string, string | number>>;

/** A form that stands for no word, such as one that a plugin has added, reads as if nothing were stored. */
export const word: CodecDefinition<WordForms> = {
  fits: ['word'],
  defaultFor: ['word'],
  metaType: (forms = {}) => ({ type: typeof Object.values(forms)[0] === 'number' ? 'integer' : 'string' }),
  create: (options, { field: { words = [] } }) => {
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
