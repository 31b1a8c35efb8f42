// Asks the interface from the page: whole lists, following their links.

const PER_PAGE = 50;
const MOST_PAGES = 40;

// From a module's own address, so that a base path in front of the gateway does no harm.
const root = new URL('../../', import.meta.url);
export const base = new URL(document.body.dataset.mount, root).href;
export const statusUrl = new URL('-/status.json', root).href;

/**
 * Every record of a list. Its links may name another address of this gateway, so only their queries are followed.
 * @throws Error with the interface's own message
 */
export async function all(collection, query, signal) {
  const records = [];
  let search = `?${new URLSearchParams({ ...query, per_page: PER_PAGE })}`;
  for (let page = 0; search && page < MOST_PAGES; page++) {
    const answer = await fetch(`${base}/${collection}${search}`, { signal, headers: { Accept: 'application/json' } });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.message);
    records.push(...body[collection]);
    search = body.next_rest_url ? new URL(body.next_rest_url).search : '';
  }
  return records;
}

/** The text of a piece of HTML, as the interface gives titles, names and descriptions. */
export function plainText(html) {
  const blocks = html.replace(/<\/(p|li|h\d|div)>|<br ?\/?>/g, '$&\n');
  return new DOMParser().parseFromString(blocks, 'text/html').body.textContent.trim();
}
