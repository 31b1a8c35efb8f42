// Normalizes user names as WordPress does: all spellings of an account's name must share one counter of failed logins.

const MAX_NAME_LENGTH = 250;
/** Control characters, characters of HTML tags, and malformed UTF-8. */
const INVALID_NAME = /[\p{Cc}<>\uFFFD]/u;

/** Letters that WordPress or its database collation equates with others, beyond Unicode decomposition. */
const LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  þ: 'th',
  ð: 'd',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ĸ: 'k',
  ł: 'l',
  ŋ: 'n',
  ŧ: 't',
  ŀ: 'l',
  ŉ: 'n',
  ɑ: 'a',
  ə: 'e',
  ɖ: 'd',
  '€': 'e',
};

/** Unicode has the digits of a script in runs of ten that start at a code point ending in hexadecimal 0 or 6. */
function digit(letter: string): string {
  const code = letter.codePointAt(0)!;
  const run = code & ~0xf;
  return String(code - (/\p{Nd}/u.test(String.fromCodePoint(run)) ? run : run + 6));
}

/** Removes what WordPress treats as HTML entities: from an ampersand, with at least one character, to the next semicolon. */
function withoutEntities(text: string): string {
  let result = '';
  for (let from = 0; ; ) {
    const start = text.indexOf('&', from);
    const end = start < 0 ? -1 : text.indexOf(';', start + 2);
    if (end < 0) return result + text.slice(from);
    result += text.slice(from, start);
    from = end + 1;
  }
}

/**
 * Returns a key that all spellings of a user name share; undefined for an invalid name. It applies `sanitize_user()` and MySQL's collations
 * (no accents, case or trailing spaces) and then drops everything but letters and digits. Different names with one key share a counter of
 * failed logins, which does no harm.
 */
export function accountKey(user: string): string | undefined {
  if (user.length > MAX_NAME_LENGTH || INVALID_NAME.test(user)) return undefined;
  const plain = user.normalize('NFKD').replace(/\p{M}/gu, '');
  const name = withoutEntities(plain.replace(/%[0-9a-f]{2}/gi, ''))
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}@€]/gu, '')
    .replace(/[^\p{ASCII}]/gu, (letter) => LETTERS[letter] ?? (/\p{Nd}/u.test(letter) ? digit(letter) : letter));
  // Depending on the site's language, `ä` equals `a` or `ae`, `å` equals `a` or `aa`, and `đ` equals `d` or `dj`.
  return name
    .replace(/([aou])e/g, '$1')
    .replace(/aa/g, 'a')
    .replace(/ss/g, 's')
    .replace(/dj/g, 'd');
}

/** The user of a Basic header; `user` is undefined if the CMS might parse the credentials differently. */
export type BasicUser = { user: string } | { user: undefined };

const strict = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns undefined for headers that WordPress ignores: other schemes, malformed ones, and credentials without a password, which PHP drops.
 * PHP decodes base64 leniently: credentials that only a lenient decoder accepts have no user here.
 */
export function parseBasicUser(authorization: string | undefined): BasicUser | undefined {
  const encoded = /^Basic\s+(\S.*)$/i.exec(authorization ?? '')?.[1]?.trim();
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded.replace(/[^A-Za-z0-9+/]/g, ''), 'base64');
  const colon = bytes.indexOf(':');
  if (colon < 0 || colon === bytes.length - 1) return undefined;
  if (bytes.toString('base64') !== encoded) return { user: undefined };
  try {
    return { user: strict.decode(bytes.subarray(0, colon)) };
  } catch {
    return { user: undefined };
  }
}
