// Trims given characters in linear time. A regular expression such as `x+$` needs quadratic time.

/** Removes leading and trailing characters that occur in `characters`, each a single UTF-16 code unit. */
export const trimCharacters = (text: string, characters: string): string =>
  trimCharactersEnd(text.slice(countLeading(text, characters)), characters);

/** Removes trailing characters that occur in `characters`, each a single UTF-16 code unit. */
export function trimCharactersEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

function countLeading(text: string, characters: string): number {
  let count = 0;
  while (count < text.length && characters.includes(text[count]!)) count += 1;
  return count;
}
