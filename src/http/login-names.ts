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
