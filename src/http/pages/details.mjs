// The dialog with the details of one event, and its links to the site and the API.

import { plainText } from './api.mjs';

const dialog = document.querySelector('#details');
const DAY = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' };
const CLOCK = { hour: 'numeric', minute: '2-digit' };

const wall = (text) => new Date(`${text.replace(' ', 'T')}Z`);

function when({ start_date, end_date, all_day, timezone_abbr }) {
  const form = all_day ? DAY : { ...DAY, ...CLOCK };
  const range = new Intl.DateTimeFormat(undefined, { ...form, timeZone: 'UTC' }).formatRange(
    wall(start_date),
    wall(end_date),
  );
  return all_day ? range : `${range} ${timezone_abbr}`;
}

function where(venue) {
  const { address, zip, city, country } = venue;
  return [plainText(venue.venue), address, [zip, city].filter(Boolean).join(' '), country].filter(Boolean).join(', ');
}

/** @param event as the API returns it */
export function showDetails(event) {
  const facts = [
    ['When', when(event)],
    ['Where', [event.venue].flat().map(where).join('; ')],
    ['By', event.organizer.map(({ organizer }) => plainText(organizer)).join(', ')],
    ['Cost', plainText(event.cost)],
    ['Category', event.categories.map(({ name }) => plainText(name)).join(', ')],
  ].filter(([, text]) => text);
  dialog.querySelector('h2').textContent = plainText(event.title);
  dialog
    .querySelector('dl')
    .replaceChildren(...facts.flatMap(([name, text]) => [element('dt', name), element('dd', text)]));
  dialog.querySelector('.description').textContent = plainText(event.excerpt || event.description);
  dialog
    .querySelector('.links')
    .replaceChildren(link(event.url, 'Page on the site'), link(event.rest_url, 'Record in the interface'));
  dialog.showModal();
}

function element(name, text) {
  const node = document.createElement(name);
  node.textContent = text;
  return node;
}

function link(href, text) {
  const anchor = element('a', text);
  if (/^https?:/.test(href)) anchor.href = href;
  return anchor;
}

dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close();
});
