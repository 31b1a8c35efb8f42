// Codecs of a choice between few values, each of which the CMS may store in a form of its own: `boolean`, such as
// `{ "boolean": ["yes", "no"] }`, and `word`, such as `{ "word": { "cancelled": "canceled" } }`.

import type { CodecDefinition, MetaType } from '../field-accessor.ts';
import { UnrepresentableValue } from '../paths.ts';

type Form = string | number | boolean | null;
type BooleanForms = readonly [whenTrue: Form, whenFalse: Form];

const DEFAULT_FORMS: BooleanForms = [true, false];
const META_TYPES: Readonly<Record<string, MetaType['type']>> = { boolean: 'boolean', number: 'integer' };
const COMMON_TRUE_TEXTS = new Set(['true', '1', 'yes', 'on']);

/** The CMS may send `"1"` for `1`, and people type ` Cancelled` into a form. */
const comparable = (form: unknown): string => String(form).trim().toLowerCase();

function read(stored: unknown, forms: BooleanForms): boolean | undefined {
  if (stored === null) return forms.includes(null) ? forms[0] === null : undefined;
  if (stored === undefined || typeof stored === 'object') return undefined;
  const text = comparable(stored);
  const form = forms.findIndex((each) => comparable(each) === text);
  if (form >= 0) return form === 0;
  // Neither form, as after a change of the mapping: "on" is true, "nein" is false, and a blank text is nothing.
  return text === '' ? undefined : COMMON_TRUE_TEXTS.has(text);
}

/**
 * A record that lacks the key must read as the field's empty value, which is true for `show_map`:
 *
 *   forms           empty   the key is registered as
 *   [true, false]   true    a boolean, default true
 *   [1, 0]          false   an integer, default 0
 *   ['1', '']       true    a string, default '1': WordPress's own default '' would read as false
 *   ['yes', 'no']   true    a string: '' is neither form, so that it reads as the empty value
 *   ['yes', null]   false   a string: for false WordPress stores no row of the key
 */
export const boolean: CodecDefinition<BooleanForms> = {
  fits: ['boolean'],
  defaultFor: ['boolean'],
  metaType: ([whenTrue, whenFalse] = DEFAULT_FORMS, { empty }) => {
    const type = META_TYPES[typeof whenTrue] ?? 'string';
    if (whenFalse === null) return { type, absentWhenFalse: true };
    const whenEmpty = empty === true ? whenTrue : whenFalse;
    const isCoreDefaultAForm = type !== 'string' || whenTrue === '' || whenFalse === '';
    return whenEmpty !== null && isCoreDefaultAForm ? { type, default: whenEmpty } : { type };
  },
  create: (forms = DEFAULT_FORMS) => ({
    read: (stored) => read(stored, forms),
    write: (value) => (value ? forms[0] : forms[1]),
  }),
};

/** The options are the CMS's forms, by the words of the API. A form that stands for no word reads as nothing. */
export const word: CodecDefinition<Readonly<Record<string, string | number>>> = {
  fits: ['word'],
  defaultFor: ['word'],
  metaType: (forms = {}) => ({ type: typeof Object.values(forms)[0] === 'number' ? 'integer' : 'string' }),
  create: (options, { field: { words = [] } }) => {
    const forms = new Map(options ? Object.entries(options) : words.map((each) => [each, each]));
    const wordOf = (isForm: (form: unknown) => boolean) =>
      words.find((each) => forms.has(each) && isForm(forms.get(each)));
    return {
      // The exact form first: `c` may stand for `cancelled`, and `C` for `postponed`.
      read: (stored) => wordOf((form) => form === stored) ?? wordOf((form) => comparable(form) === comparable(stored)),
      write: (value) => {
        const form = value === '' ? '' : forms.get(String(value));
        if (form === undefined)
          throw new UnrepresentableValue(`only ${[...forms.keys()].join(', ')} can be stored here`);
        return form;
      },
    };
  },
};
