// Cuts given characters off the ends of a text in time linear in its length, which an expression such as `x+$` does not.

/** Without leading and trailing characters that are among `signs`, single UTF-16 units. */
export const trimmed = (text: string, signs: string): string => trimmedEnd(text.slice(leading(text, signs)), signs);

/** Without trailing characters that are among `signs`, single UTF-16 units. */
export function trimmedEnd(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

function leading(text: string, signs: string): number {
  let from = 0;
  while (from < text.length && signs.includes(text[from]!)) from += 1;
  return from;
}
