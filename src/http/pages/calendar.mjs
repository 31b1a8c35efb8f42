// The calendar: events of the visible days from the API, filtered by venue and category.

import { fetchList, plainText } from './api.mjs';
import { showDetails } from './details.mjs';
import { firstRefresh } from './status.mjs';

// The style sheet has light and dark colours; a category keeps its colour while the list of categories does not change.
const COLOURS = 8;
const NO_EVENTS = 'No events in this month';
const NARROW = matchMedia('(width < 40rem)');
const DARK = matchMedia('(prefers-color-scheme: dark)');

const filters = document.querySelector('#filters');
const notice = document.querySelector('#notice');
const container = document.querySelector('#calendar');
const dialog = document.querySelector('#details');
const colours = new Map();
let fetching = new AbortController();
/** The visible days, and the events drawn for them. */
let days;
let drawn = '';
/** A request failed: the next refresh repeats it. */
let failed = false;

const day = (date) => date.toISOString().slice(0, 10);
const dayBefore = (date) => new Date(date.getTime() - 86_400_000);
const dayAfter = (text) => day(new Date(Date.parse(`${text.slice(0, 10)}T00:00:00Z`) + 86_400_000));

/** Events that overlap the visible days: they start before the end of those and end after the day before them. */
async function fetchEvents({ start, end }, signal) {
  const query = { ends_after: day(dayBefore(start)), starts_before: day(dayBefore(end)) };
  for (const [name, value] of new FormData(filters)) if (value) query[name] = value;
  return (await fetchList('events', query, signal)).map(toCalendarEvent);
}

async function events(range) {
  fetching.abort();
  fetching = new AbortController();
  const { signal } = fetching;
  days = range;
  await filtersFilled;
  try {
    const result = await fetchEvents(range, signal);
    showNotice('');
    drawn = JSON.stringify(result);
    return result;
  } catch (error) {
    // A newer request replaced this one.
    if (error.name === 'AbortError') return [];
    failed = true;
    showError('The events', error);
    throw error;
  }
}

/** Redraws only if an event changed: redrawing replaces all elements, which loses the keyboard focus. */
async function refresh() {
  failed = false;
  await fillFilters();
  const result = await fetchEvents(days).catch(() => undefined);
  // After an error the calendar fetches again, and shows the error.
  if (JSON.stringify(result) !== drawn) calendar.refetchEvents();
}

/** The event that has the focus, and which of its elements: an event over several weeks has several. */
let focused;

const elementsOf = (id) => [...container.querySelectorAll(`[data-event="${CSS.escape(id)}"]`)];

container.addEventListener('focusin', ({ target }) => {
  const id = target.dataset.event;
  focused = id && { id, index: elementsOf(id).indexOf(target) };
});
// Forgets the event when the user moves the focus elsewhere, but not when an element was replaced or a dialog is open.
container.addEventListener('focusout', ({ target }) => {
  setTimeout(() => {
    const active = document.activeElement;
    if (target.isConnected && !dialog.open && active !== target && !active.dataset.event) focused = undefined;
  });
});

function restoreFocus() {
  const active = document.activeElement;
  if (!focused || dialog.open || !(active === document.body || dialog.contains(active))) return;
  const elements = elementsOf(focused.id);
  (elements[focused.index] ?? elements[0])?.focus({ preventScroll: true });
}

dialog.addEventListener('close', () => setTimeout(restoreFocus));
// New elements are hidden until the calendar knows their heights.
new MutationObserver(restoreFocus).observe(container, {
  childList: true,
  subtree: true,
  attributeFilter: ['style', 'class'],
});

/** The error during the initial sync explains itself. */
const showError = (subject, { code, message }) =>
  showNotice(code === 'calendar_not_ready' ? message : `${subject} could not be read: ${message}`);

function showNotice(message) {
  if (notice.textContent === message) return;
  notice.hidden = message === '';
  notice.textContent = message;
  calendar.setOption('noEventsText', message === '' ? NO_EVENTS : 'The events are not known yet');
}

/** Shows times in the time zone of the event. */
function toCalendarEvent(event) {
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
  const records = await fetchList(collection, {});
  const selected = select.value;
  select.length = 1;
  select.append(...records.map((record) => new Option(label(record), record.id)));
  select.value = records.some(({ id }) => String(id) === selected) ? selected : '';
  return records;
}

async function fillFilters() {
  await firstRefresh;
  try {
    await fill('venue', 'venues', (venue) => plainText(venue.venue));
    const indent = ({ parent }) => (parent ? '\u2013 ' : '');
    const categories = await fill(
      'categories',
      'categories',
      (category) => indent(category) + plainText(category.name),
    );
    for (const [index, { id }] of categories.entries()) colours.set(id, index % COLOURS);
  } catch (error) {
    failed = true;
    showError('The filters', error);
  }
}

// The first events wait for this: their colours come from the categories.
const filtersFilled = fillFilters();

const calendar = new FullCalendar.Calendar(container, {
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
  // `events` shows the error; this keeps FullCalendar from logging it.
  eventSourceFailure: () => {},
});

DARK.addEventListener('change', () => calendar.setOption('colorScheme', DARK.matches ? 'dark' : 'light'));
NARROW.addEventListener('change', () => calendar.changeView(NARROW.matches ? 'listMonth' : 'dayGridMonth'));
filters.addEventListener('change', () => calendar.refetchEvents());
document.addEventListener('status-refreshed', ({ detail }) => {
  if (detail.changed || failed) refresh();
});

calendar.render();
