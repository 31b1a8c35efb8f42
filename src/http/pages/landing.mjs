// Changes month, view, filters and event without a reload, and keeps the events current.
// The server renders everything: this script fetches the page of a URL and takes the part that it needs.

const REFRESH_MS = 15_000;
const COPIED_MS = 2000;

const dialog = document.querySelector('#dialog');
const notice = document.querySelector('#notice');
const filters = document.querySelector('#filters');
const eventsOf = (page) => page.querySelector('#events');
const isEvent = (url) => new URL(url).searchParams.has('event');

/** The URL whose events are on the page, below an open dialog too, and their HTML as the server sent it. */
let shown = location.href;
let sent = eventsOf(document)?.outerHTML;
let navigation = new AbortController();

/** Fetches a page of this site. Throws if the gateway gives none. */
async function load(url, options = {}) {
  // For any other type the gateway explains errors in JSON.
  const response = await fetch(url, { ...options, headers: { accept: 'text/html' } });
  if (!response.headers.get('content-type')?.startsWith('text/html')) throw new Error(`status ${response.status}`);
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

/** Errors are visible, other messages are for screen readers. */
function say(text, isError = false) {
  notice.classList.toggle('error', isError);
  notice.classList.toggle('visually-hidden', !isError);
  if (notice.textContent !== text) notice.textContent = text;
}

const elementsOf = (id) => [...document.querySelectorAll(`#events [data-event="${CSS.escape(id)}"]`)];

/** How to find an element again after its replacement: an event over several weeks has several elements. */
function placeOf(element) {
  const { id, dataset } = element;
  return { id, event: dataset.event, index: dataset.event ? elementsOf(dataset.event).indexOf(element) : 0 };
}

function focusAgain({ id, event, index }) {
  const same = event ? elementsOf(event) : [];
  (id ? document.getElementById(id) : (same[index] ?? same[0]))?.focus({ preventScroll: true });
}

/** Replaces the events if they differ: the focus stays where it was. */
function replaceEvents(next) {
  const current = eventsOf(document);
  if (next.outerHTML === sent) return;
  sent = next.outerHTML;
  const focused = current.contains(document.activeElement) && placeOf(document.activeElement);
  current.replaceWith(next);
  applyView(document.documentElement.dataset.requested);
  if (focused) focusAgain(focused);
}

async function showEvents(url, signal) {
  const page = await load(url, { signal });
  if (!eventsOf(page)) return location.assign(url);
  const isOtherPage = new URL(url).searchParams.get('page') !== new URL(shown).searchParams.get('page');
  shown = url;
  document.title = page.title;
  applyView(page.documentElement.dataset.view);
  replaceEvents(eventsOf(page));
  for (const { name, options, value } of filters.elements) {
    const wanted = new URL(url).searchParams.get(name) ?? '';
    if (name && value !== wanted && (!options || [...options].some((option) => option.value === wanted)))
      filters.elements[name].value = wanted;
  }
  say(eventsOf(document).dataset.announced);
  if (isOtherPage) eventsOf(document).scrollIntoView();
}

/** The element that the dialog was opened from. */
let opener;

async function openEvent(url, signal) {
  const page = await load(url, { signal });
  const article = page.querySelector('#event');
  if (!article) return say(page.querySelector('.empty').textContent, true);
  dialog.querySelector('#event')?.remove();
  dialog.append(article);
  prepareShare();
  document.title = page.title;
  if (!dialog.open) {
    opener = placeOf(document.activeElement);
    dialog.showModal();
  }
  dialog.scrollTop = 0;
}

/** Shows the events or the event of a URL. */
async function show(url) {
  navigation.abort();
  navigation = new AbortController();
  try {
    if (isEvent(url)) return await openEvent(url, navigation.signal);
    dialog.close();
    if (url !== shown) await showEvents(url, navigation.signal);
  } catch (error) {
    if (error.name !== 'AbortError') say(notice.dataset.away, true);
  }
}

function go(url) {
  history.pushState({ isOwn: true }, '', url);
  return show(url);
}

/** Keeps the events current, and leaves the page of an error that is soon over as soon as there are some. */
async function refresh() {
  if (document.hidden || !document.querySelector('#events, #waiting')) return;
  const url = shown;
  try {
    const page = await load(url, { cache: 'no-cache' });
    if (url !== shown || !eventsOf(page)) return;
    if (!eventsOf(document)) return location.reload();
    replaceEvents(eventsOf(page));
    if (notice.classList.contains('error')) say('');
  } catch {
    say(notice.dataset.stale, true);
  }
}

function prepareShare() {
  const button = document.querySelector('#share');
  if (!button) return;
  const { textContent: label, dataset } = button;
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(dataset.url);
      button.textContent = dataset.copied;
      setTimeout(() => {
        button.textContent = label;
      }, COPIED_MS);
    } catch {
      // Without HTTPS browsers allow no clipboard.
      button.textContent = dataset.url;
      getSelection().selectAllChildren(button);
    }
  });
}

/** Links to other states of this page; all others are for the browser. */
function isOwnLink({ origin, pathname, hash, download }) {
  return origin === location.origin && pathname === location.pathname && hash === '' && download === '';
}

if (eventsOf(document)) {
  applyView(document.documentElement.dataset.requested);
  document.addEventListener('click', (event) => {
    const link = event.target.closest('#events a, #event a');
    if (!link || !isOwnLink(link) || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(link.href);
  });
  filters.addEventListener('submit', (event) => {
    event.preventDefault();
    const url = new URL(shown);
    const params = url.searchParams;
    const before = params.get('search') ?? '';
    for (const [name, value] of new FormData(filters)) {
      if (value.trim()) params.set(name, value.trim());
      else params.delete(name);
    }
    const isSearch = (params.get('search') ?? '') !== before;
    for (const name of isSearch ? ['page', 'view', 'month', 'day', 'past'] : ['page']) params.delete(name);
    go(url.href);
  });
  filters.addEventListener('change', ({ target }) => {
    if (target.type !== 'search') filters.requestSubmit();
  });
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.addEventListener('close', () => {
    if (document.activeElement === document.body || dialog.contains(document.activeElement)) focusAgain(opener);
    if (!isEvent(location.href)) return;
    if (history.state?.isOwn) history.back();
    else history.replaceState(null, '', shown);
  });
  addEventListener('popstate', () => show(location.href));
}
prepareShare();
document.addEventListener('visibilitychange', refresh);
setInterval(refresh, REFRESH_MS);
