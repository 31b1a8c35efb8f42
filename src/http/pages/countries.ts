// The two letters of a country (ISO 3166-1) by its name in any language of the pages.

import { PAGE_LANGUAGES } from '../../config-schema.ts';

/** Codes of the platform's data that name no country of the standard: the European Union, Kosovo, test data. */
const OTHERS = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'XK', 'ZZ']);
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

let codes: Map<string, Set<string>> | undefined;

/** Codes by name and code, in lower case. Built at the first use, which takes some milliseconds. */
function codesByName(): Map<string, Set<string>> {
  if (codes) return codes;
  codes = new Map(Object.entries({ usa: new Set(['US']), uk: new Set(['GB']) }));
  const names = PAGE_LANGUAGES.map((language) => new Intl.DisplayNames(language, { type: 'region', fallback: 'none' }));
  for (const code of LETTERS.flatMap((first) => LETTERS.map((second) => first + second))) {
    // An old code, such as `DD`, has the name of a new one.
    const isOld = new Intl.Locale(`und-${code}`).region !== code;
    if (isOld || OTHERS.has(code) || names[0]?.of(code) === undefined) continue;
    for (const name of [code, ...names.flatMap((each) => each.of(code) ?? [])]) {
      const key = name.toLowerCase();
      codes.set(key, (codes.get(key) ?? new Set()).add(code));
    }
  }
  return codes;
}

/** `US` for `United States`, `DE` for `Allemagne`; undefined for an unknown name, and for one of two countries. */
export function countryCode(name: string): string | undefined {
  const [code, ...others] = codesByName().get(name.trim().toLowerCase()) ?? [];
  return others.length === 0 ? code : undefined;
}
