// The names of fields that a site has, as an advice lists them: the operator sees which one is meant by a
// misspelt name.

const MAX_SHOWN = 20;
const MAX_CHARACTERS = 100;
/** Anything else could break the line, or look like two names. */
const PLAIN_NAME = /^[\p{L}\p{N}_.:@$/-]+$/u;

/** What JSON does not escape although a terminal shows nothing of it, or turns the text around. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * `a, b, "c\nd"`, each cut after a hundred characters. Of more than twenty those that are most similar to
 * `name`, and how many more there are.
 */
export function listKeys(keys: readonly string[], name = ''): string {
  const short = keys.map((key) => (key.length > MAX_CHARACTERS ? `${key.slice(0, MAX_CHARACTERS)}…` : key));
  const shown = keys.length <= MAX_SHOWN ? short : mostSimilar(short, name).slice(0, MAX_SHOWN);
  const more = keys.length > shown.length ? ` and ${keys.length - shown.length} more` : '';
  return shown.map((key) => (PLAIN_NAME.test(key) ? key : quoted(key))).join(', ') + more;
}

const quoted = (key: string): string =>
  JSON.stringify(key).replace(INVISIBLE, (sign) => `\\u${sign.codePointAt(0)!.toString(16).padStart(4, '0')}`);

/** Equally similar ones stay in their order. */
function mostSimilar(keys: readonly string[], name: string): string[] {
  const pairs = pairsOf(name);
  const similarity = (key: string): number => {
    const ofKey = pairsOf(key);
    const shared = [...ofKey].filter((pair) => pairs.has(pair)).length;
    return shared / (ofKey.size + pairs.size - shared);
  };
  return keys
    .map((key) => ({ key, score: similarity(key) }))
    .sort((a, b) => b.score - a.score)
    .map(({ key }) => key);
}

/** Each two neighbouring characters, with a space before the first and after the last. */
const pairsOf = (text: string): Set<string> =>
  new Set(Array.from(`${text} `, (character, at) => (text[at - 1] ?? ' ') + character));
