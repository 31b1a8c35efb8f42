// Calls the API from the page, and turns its HTML into text.

const PER_PAGE = 50;
const MAX_PAGES = 40;

// Relative to this module's URL, so that it works behind a proxy with a base path.
const root = new URL('../../', import.meta.url);
export const base = new URL(document.body.dataset.mount, root).href;
export const statusUrl = new URL('-/status.json', root).href;

/**
 * The public version of the replica at the last refresh. The API ignores this parameter; caches see a new URL after every change, so that
 * changes show immediately.
 */
export const cacheBuster = { version: undefined };

/**
 * Fetches all pages of a list. Links may have another host of this gateway, so only their queries are used.
 * @throws Error with the message and `code` of the API error
 */
export async function fetchList(collection, query, signal) {
  const records = [];
  let params = new URLSearchParams({ ...query, per_page: PER_PAGE });
  for (let page = 0; params && page < MAX_PAGES; page++) {
    if (cacheBuster.version !== undefined) params.set('replica_version', cacheBuster.version);
    const response = await fetch(`${base}/${collection}?${params}`, {
      signal,
      headers: { Accept: 'application/json' },
    });
    // A proxy may respond with an error page.
    const body = await response.json().catch(() => ({}));
    if (!response.ok) {
      throw Object.assign(new Error(body.message ?? `status ${response.status}`), { code: body.code });
    }
    records.push(...body[collection]);
    params = body.next_rest_url && new URL(body.next_rest_url).searchParams;
  }
  return records;
}

/**
 * Converts HTML of titles, names and descriptions to text. The parser gets entities but no tags: the page's policy would report every event
 * handler attribute on the console.
 */
export function plainText(html) {
  const text = withoutTags(html.replace(/<\/(p|li|h\d|div)>|<br ?\/?>/gi, '$&\n'));
  return new DOMParser().parseFromString(text, 'text/html').body.textContent.trim();
}

const HIDDEN = ['script', 'style'];

/** Removes tags, comments, scripts and styles and escapes other `<`, in linear time (a regular expression takes quadratic time). */
function withoutTags(html) {
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let text = '';
  let from = 0;
  for (let open = html.indexOf('<'); open >= 0; open = html.indexOf('<', from)) {
    text += html.slice(from, open);
    const end = /[a-z!/]/.test(lower[open + 1] ?? '') ? endOfTag(lower, open) : open;
    // An unclosed tag is text up to the end.
    if (end < 0) return text + html.slice(open).replaceAll('<', '&lt;');
    if (end === open) text += '&lt;';
    from = Math.max(end, open + 1);
  }
  return text + html.slice(from);
}

/** The end of the tag that starts here, including the content of scripts and styles; -1 if it is unclosed. */
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

/** The position after the next `end`; -1 if there is none or `from` is -1. */
function after(text, end, from) {
  const at = from < 0 ? -1 : text.indexOf(end, from);
  return at < 0 ? -1 : at + end.length;
}
