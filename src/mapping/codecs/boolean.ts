// Codec `boolean`: a boolean in two stored forms, the one for `true` first: `{ "boolean": ["yes", "no"] }`.

import type { CodecDefinition, MetaType } from './codec.ts';

type Form = string | number | boolean | null;
type Forms = readonly [whenTrue: Form, whenFalse: Form];

const DEFAULT_FORMS: Forms = [true, false];
const META_TYPES: Readonly<Record<string, MetaType['type']>> = { boolean: 'boolean', number: 'integer' };
const COMMON_TRUE_TEXTS = new Set(['true', '1', 'yes', 'on']);

function read(stored: unknown, [whenTrue, whenFalse]: Forms): boolean | undefined {
  if (stored === whenTrue) return true;
  if (stored === whenFalse) return false;
  if (stored === undefined || stored === null) return undefined;
  // The CMS may have changed the type (1 to "1"), so compare the text before falling back to common texts.
  if (hasSameText(stored, whenTrue)) return true;
  if (hasSameText(stored, whenFalse)) return false;
  if (stored === '' || typeof stored === 'object') return undefined;
  return COMMON_TRUE_TEXTS.has(String(stored).trim().toLowerCase());
}

function hasSameText(stored: unknown, form: unknown): boolean {
  return typeof stored !== 'object' && String(stored).toLowerCase() === String(form).toLowerCase();
}

export const boolean: CodecDefinition<Forms> = {
  name: 'boolean',
  fits: ['boolean'],
  defaultFor: ['boolean'],
  optionsSchema: {
    type: 'array',
    minItems: 2,
    maxItems: 2,
    uniqueItems: true,
    items: { type: ['string', 'number', 'boolean', 'null'] },
  },
  metaType: (forms = DEFAULT_FORMS, _type, empty) => {
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
