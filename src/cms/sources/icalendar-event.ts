// Reads what an event of an iCalendar file says: everything but its times.

import { decodeEntities, escapeHtml, escapeHtmlOnce } from '../../text/html.ts';
import { safeHtml } from '../../text/safe-html.ts';
import { cutText, webAddress } from '../../text/text.ts';
import { parseWallTime } from '../../time/wall-time.ts';
import { type Component, type Property, properties, textOf } from './icalendar-text.ts';
import type { timesOf } from './icalendar-times.ts';
import { placeAt, type SourceEvent, type SourceOrganizer, type SourceVenue } from './source.ts';

const MAX_LINE = 1000;
const MAX_TEXT = 50_000;
const MAX_URL = 2000;
/** Of categories, organizers. */
const MAX_NAMES = 50;

/** Everything of an event that its instances share. */
export async function readContent(
  component: Component,
): Promise<Omit<SourceEvent, 'key' | 'uid' | keyof ReturnType<typeof timesOf>>> {
  const url = addressOf(textOf(component, 'url'));
  const location = textOf(component, 'location');
  const onlineUrl = onlineUrlOf(component, location);
  // Online only if the event has no other place.
  const isOnline = onlineUrl !== '' && (location === '' || addressOf(location) !== '');
  const status = textOf(component, 'status').toUpperCase();
  return {
    title: line(textOf(component, 'summary')),
    description: await descriptionOf(component, url),
    url,
    eventStatus: status === 'CANCELLED' ? 'cancelled' : status === 'CONFIRMED' ? 'scheduled' : '',
    attendanceMode: isOnline ? 'online' : '',
    onlineUrl,
    createdUtc: utcOf(textOf(component, 'created')),
    modifiedUtc: utcOf(textOf(component, 'last-modified')),
    categories: categoriesOf(component),
    venue: venueOf(component, location),
    organizers: organizersOf(component),
    image: imageOf(component),
  };
}

/** A text in one line, as HTML. Many programs write HTML's entities into it: `R&amp;D`. */
function line(text: string): string {
  const words = text.toWellFormed().replace(/[\s\p{Cc}]+/gu, ' ');
  return escapeHtmlOnce(cutText(words.trim(), MAX_LINE));
}

const addressOf = (text: string): string => (text.length <= MAX_URL ? (webAddress(text) ?? '') : '');

/** Programs such as Google Calendar write HTML into DESCRIPTION itself. `<me@town.example>` is none. */
const TAGS = new Set('p br a b i u ul ol li div span strong em h1 h2 h3 h4 h5 h6 html'.split(' '));
function hasTags(text: string): boolean {
  for (const [, name = ''] of text.matchAll(/<\/?([a-z][a-z0-9]*)(?:[\s/][^<>]*)?>/gi))
    if (TAGS.has(name.toLowerCase())) return true;
  return false;
}

async function descriptionOf(component: Component, url: string): Promise<string> {
  // ical.js decodes no properties that it does not know.
  const rich = textOf(component, 'x-alt-desc').replace(/\\([\\;,nN])/g, (_, c) => (/n/i.test(c) ? '\n' : c));
  const plain = textOf(component, 'description');
  const html = [rich, plain].find(hasTags) ?? '';
  if (html === '') return paragraphs(cutText(plain, MAX_TEXT));
  return (await safeHtml(html, url === '' ? {} : { linkBase: url, imageBase: url })).trim();
}

function paragraphs(text: string): string {
  const blocks = text.split(/\n\s*\n/).filter((block) => block.trim() !== '');
  return blocks.map((block) => `<p>${escapeHtml(block.trim()).replaceAll('\n', '<br>')}</p>`).join('\n');
}

/** CONFERENCE (RFC 7986), or a LOCATION that is nothing but an address. */
function onlineUrlOf(component: Component, location: string): string {
  const [conference] = properties(component, 'conference').map(({ values }) => addressOf(String(values[0])));
  return conference || addressOf(location);
}

/** The first line of LOCATION is its name. Commas tell nothing: what is before the first may be a street. */
function venueOf(component: Component, location: string): SourceVenue | undefined {
  const [name = '', ...address] = addressOf(location) === '' ? location.split('\n') : [];
  if (name === '') return undefined;
  // ical.js reads 0 for what is no number.
  const [, latitude, longitude] = /:([-+]?[\d.]+);([-+]?[\d.]+)$/.exec(component.get('geo')?.[0]?.trim() ?? '') ?? [];
  const place = placeAt(Number(latitude ?? Number.NaN), Number(longitude ?? Number.NaN));
  return { name: line(name), address: line(address.join('\n')), ...place };
}

function categoriesOf(component: Component): string[] {
  const lists = properties(component, 'categories', MAX_NAMES);
  const names = lists.flatMap(({ values }) => values.slice(0, MAX_NAMES).map((value) => line(String(value))));
  return [...new Set(names.filter((name) => name !== ''))].slice(0, MAX_NAMES);
}

/** By name, never by e-mail address. */
function organizersOf(component: Component): SourceOrganizer[] {
  return properties(component, 'organizer', MAX_NAMES)
    .map(({ params, values }) => ({ name: line(params.cn ?? ''), website: addressOf(String(values[0])) }))
    .filter(({ name }) => name !== '' && !decodeEntities(name).includes('@'));
}

/** IMAGE (RFC 7986), or an attached picture, as The Events Calendar and others write it. By address only. */
function imageOf(component: Component): SourceEvent['image'] {
  const isPicture = ({ params, values }: Property) =>
    /^image\//i.test(params.fmttype ?? '') || /\.(png|jpe?g|gif|webp|avif)$/i.test(pathOf(String(values[0])));
  const attached = properties(component, 'attach', MAX_NAMES).filter(isPicture);
  const pictures = [...properties(component, 'image', MAX_NAMES), ...attached];
  const url = pictures.map(({ values }) => addressOf(String(values[0]))).find((address) => address !== '');
  return url === undefined ? undefined : { url, width: 0, height: 0 };
}

const pathOf = (url: string): string => URL.parse(url)?.pathname ?? '';

/** `2027-05-01T18:00:00Z` as a wall time in UTC. */
function utcOf(text: string): string | undefined {
  const wall = text.replace(/^(.{10})T(.{8})Z?$/, '$1 $2');
  return parseWallTime(wall) === undefined ? undefined : wall;
}
