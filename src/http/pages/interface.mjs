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
  const text = html
    .replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, '')
    .replace(/<\/(p|li|h\d|div)>|<br ?\/?>/gi, '$&\n')
    .replace(/<[!/]?[a-z](?:"[^"]*"|'[^']*'|[^'">])*>|<!--[\s\S]*?-->/gi, '')
    .replaceAll('<', '&lt;');
  return new DOMParser().parseFromString(text, 'text/html').body.textContent.trim();
}
