// Asks the interface from the page: whole lists, following their links.

const PER_PAGE = 50;
const MOST_PAGES = 40;

// From a module's own address, so that a base path in front of the gateway does no harm.
const root = new URL('../../', import.meta.url);
export const base = new URL(document.body.dataset.mount, root).href;
export const statusUrl = new URL('-/status.json', root).href;

/**
 * The version of the copy that was seen last. The interface does not look at it, but every cache on the way takes another version for
 * another address: what changed shows at once, though answers may be kept for a while.
 */
export const seen = { version: undefined };

/**
 * Every record of a list. Its links may name another address of this gateway, so only their queries are followed.
 * @throws Error with the interface's own message and `code`
 */
export async function all(collection, query, signal) {
  const records = [];
  let wanted = new URLSearchParams({ ...query, per_page: PER_PAGE });
  for (let page = 0; wanted && page < MOST_PAGES; page++) {
    if (seen.version !== undefined) wanted.set('copy_version', seen.version);
    const answer = await fetch(`${base}/${collection}?${wanted}`, { signal, headers: { Accept: 'application/json' } });
    // What stands in front of the gateway may answer in its own words.
    const body = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      throw Object.assign(new Error(body.message ?? `answered with ${answer.status}`), { code: body.code });
    }
    records.push(...body[collection]);
    wanted = body.next_rest_url && new URL(body.next_rest_url).searchParams;
  }
  return records;
}

/**
 * The text of a piece of HTML, as the interface gives titles, names and descriptions. The parser sees no tags, only entities: a handler
 * in an attribute would not run, but the page's policy would complain of it on the console.
 */
export function plainText(html) {
  const text = withoutTags(html.replace(/<\/(p|li|h\d|div)>|<br ?\/?>/gi, '$&\n'));
  return new DOMParser().parseFromString(text, 'text/html').body.textContent.trim();
}

const HIDDEN = ['script', 'style'];

/** Without tags, comments, scripts and styles, other `<` escaped. Goes through the text once: an expression takes its square. */
function withoutTags(html) {
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let text = '';
  let from = 0;
  for (let open = html.indexOf('<'); open >= 0; open = html.indexOf('<', from)) {
    text += html.slice(from, open);
    const end = /[a-z!/]/.test(lower[open + 1] ?? '') ? endOfTag(lower, open) : open;
    // What nothing closes is text to the end.
    if (end < 0) return text + html.slice(open).replaceAll('<', '&lt;');
    if (end === open) text += '&lt;';
    from = Math.max(end, open + 1);
  }
  return text + html.slice(from);
}

/** Where a tag that opens here is over, with what it hides; -1: nowhere. */
function endOfTag(lower, open) {
  if (lower.startsWith('<!--', open)) return after(lower, '-->', open);
  const hidden = HIDDEN.find((name) => lower.startsWith(`<${name}`, open));
  if (hidden) return after(lower, '>', lower.indexOf(`</${hidden}`, open));
  let quote = '';
  for (let at = open + 1; at < lower.length; at += 1) {
    const sign = lower[at];
    if (quote === '' && sign === '>') return at + 1;
    if (sign === quote) quote = '';
    else if (quote === '' && (sign === '"' || sign === "'")) quote = sign;
  }
  return -1;
}

/** Behind the next `end` from a position on; -1 where there is none, also from nowhere. */
function after(text, end, from) {
  const at = from < 0 ? -1 : text.indexOf(end, from);
  return at < 0 ? -1 : at + end.length;
}
