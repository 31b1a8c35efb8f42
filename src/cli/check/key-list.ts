// The names of fields that a site has, as an advice lists them: the operator sees which one is meant by a misspelt name.

const MAX_SHOWN = 20;
/** Anything else could break the line, or look like two names. */
const PLAIN_NAME = /^[\p{L}\p{N}_.:@$/-]+$/u;

/** `a, b, "c\nd"`. Of more than twenty those that are most similar to `name`, and how many more there are. */
export function listKeys(keys: readonly string[], name = ''): string {
  const shown = keys.length <= MAX_SHOWN ? keys : mostSimilar(keys, name).slice(0, MAX_SHOWN);
  const more = keys.length > shown.length ? ` and ${keys.length - shown.length} more` : '';
  return shown.map((key) => (PLAIN_NAME.test(key) ? key : JSON.stringify(key))).join(', ') + more;
}

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
