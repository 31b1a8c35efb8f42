// The calendar: events of the shown days, filtered by venue and category, out of the interface.

import { showDetails } from './details.mjs';
import { all, plainText } from './interface.mjs';
import { asked as statusAsked } from './status.mjs';

// The style sheet has the colours, light and dark; a category keeps its own as long as the list of categories does not change.
const COLOURS = 8;
const NO_EVENTS = 'No events in this month';
const NARROW = matchMedia('(width < 40rem)');
const DARK = matchMedia('(prefers-color-scheme: dark)');

const filters = document.querySelector('#filters');
const notice = document.querySelector('#notice');
const place = document.querySelector('#calendar');
const dialog = document.querySelector('#details');
const colours = new Map();
let asked = new AbortController();
/** The days that are shown, and what is drawn of them. */
let days;
let drawn = '';
/** Something could not be read: it is tried again as long as the gateway answers at all. */
let failed = false;

const day = (date) => date.toISOString().slice(0, 10);
const dayBefore = (date) => new Date(date.getTime() - 86_400_000);
const dayAfter = (text) => day(new Date(Date.parse(`${text.slice(0, 10)}T00:00:00Z`) + 86_400_000));

/** Everything that touches the shown days, whenever it began: it starts before their end and ends after the day before them. */
async function read({ start, end }, signal) {
  const query = { ends_after: day(dayBefore(start)), starts_before: day(dayBefore(end)) };
  for (const [name, value] of new FormData(filters)) if (value) query[name] = value;
  return (await all('events', query, signal)).map(shown);
}

async function events(range) {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  days = range;
  await filled;
  try {
    const found = await read(range, signal);
    tell('');
    drawn = JSON.stringify(found);
    return found;
  } catch (error) {
    // Asked anew meanwhile: this answer is not shown.
    if (error.name === 'AbortError') return [];
    failed = true;
    tellOf('The events', error);
    throw error;
  }
}

/** Drawing makes all elements anew, so that a keyboard would lose its place: nothing is drawn when nothing shown changed. */
async function renew() {
  failed = false;
  await fillFilters();
  const found = await read(days).catch(() => undefined);
  // What cannot be read is tried once more where it is told.
  if (JSON.stringify(found) !== drawn) calendar.refetchEvents();
}

/** Which event's element has the focus, and which of its elements: an event of several weeks has several. */
let focused;

const elementsOf = (id) => [...place.querySelectorAll(`[data-event="${CSS.escape(id)}"]`)];

place.addEventListener('focusin', ({ target }) => {
  const id = target.dataset.event;
  focused = id && { id, at: elementsOf(id).indexOf(target) };
});
// Whoever goes elsewhere is not called back. An element that was taken away has not been left, nor one below the open dialog.
place.addEventListener('focusout', ({ target }) => {
  setTimeout(() => {
    const at = document.activeElement;
    if (target.isConnected && !dialog.open && at !== target && !at.dataset.event) focused = undefined;
  });
});

function focusAgain() {
  const at = document.activeElement;
  if (!focused || dialog.open || !(at === document.body || dialog.contains(at))) return;
  const elements = elementsOf(focused.id);
  (elements[focused.at] ?? elements[0])?.focus({ preventScroll: true });
}

dialog.addEventListener('close', () => setTimeout(focusAgain));
// New elements are hidden until the calendar knows their heights.
new MutationObserver(focusAgain).observe(place, {
  childList: true,
  subtree: true,
  attributeFilter: ['style', 'class'],
});

/** A copy that is still being made is no accident, and its own words are enough. */
const tellOf = (what, { code, message }) =>
  tell(code === 'calendar_not_ready' ? message : `${what} could not be read: ${message}`);

function tell(message) {
  if (notice.textContent === message) return;
  notice.hidden = message === '';
  notice.textContent = message;
  calendar.setOption('noEventsText', message === '' ? NO_EVENTS : 'The events are not known yet');
}

/** Times are shown as they are on the clock where the event is. */
function shown(event) {
  return {
    id: String(event.id),
    title: plainText(event.title),
    allDay: event.all_day === true,
    start: event.all_day ? event.start_date.slice(0, 10) : event.start_date.replace(' ', 'T'),
    end: event.all_day ? dayAfter(event.end_date) : event.end_date.replace(' ', 'T'),
    color: `var(--category-${colours.get(event.categories[0]?.id) ?? 'none'})`,
    contrastColor: 'var(--surface)',
    extendedProps: { event },
  };
}

function localNow() {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

async function fill(name, collection, label) {
  const select = filters.elements[name];
  const records = await all(collection, {});
  const chosen = select.value;
  select.length = 1;
  select.append(...records.map((record) => new Option(label(record), record.id)));
  select.value = records.some(({ id }) => String(id) === chosen) ? chosen : '';
  return records;
}

async function fillFilters() {
  await statusAsked;
  try {
    await fill('venue', 'venues', (venue) => plainText(venue.venue));
    const indent = ({ parent }) => (parent ? '\u2013 ' : '');
    const categories = await fill('categories', 'categories', (one) => indent(one) + plainText(one.name));
    for (const [at, { id }] of categories.entries()) colours.set(id, at % COLOURS);
  } catch (error) {
    failed = true;
    tellOf('The filters', error);
  }
}

// The first events wait for it: they take their colours from the categories.
const filled = fillFilters();

const calendar = new FullCalendar.Calendar(place, {
  initialView: NARROW.matches ? 'listMonth' : 'dayGridMonth',
  headerToolbar: { start: 'title', end: 'dayGridMonth,listMonth prev,today,next' },
  buttons: { dayGridMonth: { text: 'Month' }, listMonth: { text: 'List' }, today: { text: 'Today' } },
  timeZone: 'UTC',
  now: localNow,
  height: 'auto',
  dayMaxEvents: 4,
  fixedWeekCount: false,
  firstDay: new Intl.Locale(navigator.language).weekInfo?.firstDay % 7 || 0,
  colorScheme: DARK.matches ? 'dark' : 'light',
  eventTimeFormat: { hour: 'numeric', minute: '2-digit', omitZeroMinute: true, meridiem: 'short' },
  eventDisplay: 'block',
  views: {
    listMonth: {
      displayEventEnd: false,
      listDayFormat: { day: 'numeric', month: 'short' },
      listDayAltFormat: { weekday: 'short' },
      listDaysClass: 'list-days',
      listDayHeaderClass: 'list-day',
      listDayBodyClass: 'list-body',
      listItemEventClass: 'list-item',
      listItemEventInnerClass: 'list-text',
      listItemEventTitleClass: 'list-title',
      listItemEventTimeClass: 'list-time',
    },
  },
  noEventsText: NO_EVENTS,
  eventInteractive: true,
  eventClick: ({ event }) => showDetails(event.extendedProps.event),
  eventDidMount({ el, event }) {
    el.dataset.event = event.id;
  },
  events,
  // Told above the calendar; without this it would go to the console.
  eventSourceFailure: () => {},
});

DARK.addEventListener('change', () => calendar.setOption('colorScheme', DARK.matches ? 'dark' : 'light'));
NARROW.addEventListener('change', () => calendar.changeView(NARROW.matches ? 'listMonth' : 'dayGridMonth'));
filters.addEventListener('change', () => calendar.refetchEvents());
document.addEventListener('status-asked', ({ detail }) => {
  if (detail.changed || failed) renew();
});

calendar.render();
