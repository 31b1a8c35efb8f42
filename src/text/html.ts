// Finds tags and scripts in HTML in time linear in its length, whatever the HTML looks like.

/** The text with each tag, from a `<` to the next `>`, replaced by what `replace` makes of it; a `<` that nothing closes stays. */
export function replaceTags(html: string, replace: (tag: string) => string): string {
  let result = '';
  let from = 0;
  for (let open = html.indexOf('<'); open >= 0; open = html.indexOf('<', from)) {
    const close = html.indexOf('>', open);
    if (close < 0) break;
    result += html.slice(from, open) + replace(html.slice(open, close + 1));
    from = close + 1;
  }
  return result + html.slice(from);
}

const OPENING = /<(script|style)/gi;
const CLOSING = /<\/(script|style)>/gi;

/** Without `script` and `style` elements and what they hold; one that nothing closes stays. */
export function withoutScripts(html: string): string {
  const closings = [...html.matchAll(CLOSING)];
  const next: Record<string, number> = { script: 0, style: 0 };
  /** The first closing tag of this name from a position on; positions only grow. */
  function closingAfter(name: string, position: number): RegExpExecArray | undefined {
    let at = next[name]!;
    while (at < closings.length && (closings[at]!.index < position || closings[at]![1]!.toLowerCase() !== name))
      at += 1;
    next[name] = at;
    return closings[at];
  }

  let result = '';
  let from = 0;
  let tagEnd = -1;
  for (const { index, 0: opening, 1: name } of html.matchAll(OPENING)) {
    if (index < from) continue;
    if (tagEnd < index + opening.length) tagEnd = html.indexOf('>', index + opening.length);
    if (tagEnd < 0) break;
    const closing = closingAfter(name!.toLowerCase(), tagEnd + 1);
    if (!closing) continue;
    result += html.slice(from, index);
    from = closing.index + closing[0].length;
  }
  return result + html.slice(from);
}
