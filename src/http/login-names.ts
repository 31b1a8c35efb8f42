// Which account a user name stands for, as WordPress finds it: many spellings are one account, and some are no name at all.

const LONGEST_NAME = 250;
/** Control characters, what WordPress takes for tags, and what is not UTF-8. */
const NO_NAME = /[\p{Cc}<>\uFFFD]/u;

/** Letters that WordPress or the collation of its database takes for others, beyond what Unicode decomposes. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ æ: 'ae', œ: 'oe', ø: 'o', ß: 'ss', þ: 'th', ð: 'd', đ: 'd', ħ: 'h', ı: 'i', ĸ: 'k', ł: 'l', ŋ: 'n', ŧ: 't' },
  ...{ ŀ: 'l', ŉ: 'n', ɑ: 'a', ə: 'e', ɖ: 'd', '€': 'e' },
};

/** Digits of other scripts stand in runs of ten that begin with the hexadecimal digit 0 or 6. */
function digit(letter: string): string {
  const code = letter.codePointAt(0)!;
  const run = code & ~0xf;
  return String(code - (/\p{Nd}/u.test(String.fromCodePoint(run)) ? run : run + 6));
}

/** What WordPress takes for HTML entities: from an ampersand, with at least one character, to the next semicolon. */
function withoutEntities(text: string): string {
  let kept = '';
  for (let from = 0; ; ) {
    const begin = text.indexOf('&', from);
    const end = begin < 0 ? -1 : text.indexOf(';', begin + 2);
    if (end < 0) return kept + text.slice(from);
    kept += text.slice(from, begin);
    from = end + 1;
  }
}

/**
 * The account that a user name stands for, by a name that all its spellings share; undefined for what is no user name. It does what
 * `sanitize_user()` does and what MySQL's collations do (no accents, no case, no blanks at the end), and then takes a few more names for
 * one: only letters and digits count. Names that are wrongly taken for one share a count of failures, which does no harm.
 */
export function accountOf(user: string): string | undefined {
  if (user.length > LONGEST_NAME || NO_NAME.test(user)) return undefined;
  const plain = user.normalize('NFKD').replace(/\p{M}/gu, '');
  const name = withoutEntities(plain.replace(/%[0-9a-f]{2}/gi, ''))
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}@€]/gu, '')
    .replace(/[^\p{ASCII}]/gu, (letter) => LETTERS[letter] ?? (/\p{Nd}/u.test(letter) ? digit(letter) : letter));
  // Depending on the site's language `ä` is `a` or `ae`, `å` is `a` or `aa`, `đ` is `d` or `dj`.
  return name
    .replace(/([aou])e/g, '$1')
    .replace(/aa/g, 'a')
    .replace(/ss/g, 's')
    .replace(/dj/g, 'd');
}

/** What a Basic header holds: a user name, or credentials that the CMS might read in another way than the gateway. */
export type BasicUser = { user: string } | { user: undefined };

const strict = new TextDecoder('utf-8', { fatal: true });

/**
 * The user of a Basic header; undefined for everything that WordPress does not look at: other schemes, broken ones, and those without
 * a password, which PHP does not hand on. PHP skips what is not base64 and needs no padding: what only a lenient reader takes for
 * credentials has no user here.
 */
export function basicUser(authorization: string | undefined): BasicUser | undefined {
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
