// Reads what an event of an iCalendar file says: everything but its times.

import { decodeEntities, escapeHtml, escapeHtmlOnce } from '../../text/html.ts';
import { safeHtml } from '../../text/safe-html.ts';
import { cutText, webAddress } from '../../text/text.ts';
import { isoToWall } from '../../time/wall-time.ts';
import { type Component, type Property, properties, textOf } from './icalendar-text.ts';
import * as source from './source.ts';

const MAX_TEXT = 50_000;
/** Lines of categories, each of which may have thousands. */
const MAX_CATEGORY_LINES = 10;

/** Everything of an event that its instances share. */
export async function readContent(
  component: Component,
): Promise<Omit<source.SourceEvent, 'key' | 'uid' | source.Times>> {
  const url = addressOf(textOf(component, 'url'));
  const location = textOf(component, 'location');
  // A LOCATION that is nothing but an address.
  const onlineUrl = addressOf(location);
  const status = textOf(component, 'status').toUpperCase();
  return {
    title: line(textOf(component, 'summary')),
    description: await descriptionOf(component, url),
    url,
    eventStatus: status === 'CANCELLED' ? 'cancelled' : status === 'CONFIRMED' ? 'scheduled' : '',
    attendanceMode: onlineUrl === '' ? '' : 'online',
    onlineUrl,
    createdUtc: source.wallOf(isoToWall(textOf(component, 'created'))),
    modifiedUtc: source.wallOf(isoToWall(textOf(component, 'last-modified'))),
    categories: categoriesOf(component),
    venue: onlineUrl === '' ? venueOf(component, location) : undefined,
    organizers: organizersOf(component),
    image: imageOf(component),
  };
}

/** A text in one line, as HTML. Many programs write HTML's entities into it: `R&amp;D`. */
function line(text: string): string {
  const words = text.toWellFormed().replace(/[\s\p{Cc}]+/gu, ' ');
  return escapeHtmlOnce(cutText(words.trim(), source.MAX_LINE));
}

const addressOf = (text: string): string => (text.length <= source.MAX_LINE ? (webAddress(text) ?? '') : '');

/** Programs such as Google Calendar write HTML into DESCRIPTION itself. `<me@town.example>` is none. */
const TAG = /<\/?(?:p|br|a|b|i|u|ul|ol|li|div|span|strong|em|h[1-6]|html)(?:[\s/][^<>]*)?>/i;

async function descriptionOf(component: Component, url: string): Promise<string> {
  // ical.js decodes no properties that it does not know.
  const rich = textOf(component, 'x-alt-desc').replace(/\\([\\;,nN])/g, (_, c) => (/n/i.test(c) ? '\n' : c));
  const plain = textOf(component, 'description');
  const html = [rich, plain].find((text) => TAG.test(text)) ?? '';
  const blocks = escapeHtml(cutText(plain, MAX_TEXT))
    .replace(/\n\s*\n/g, '</p>\n<p>')
    .replace(/(?<!>)\n/g, '<br>');
  if (html === '') return blocks && `<p>${blocks}</p>`;
  return (await safeHtml(html, url === '' ? {} : { linkBase: url, imageBase: url })).trim();
}

/** The first line of LOCATION is its name. Commas tell nothing: what is before the first may be a street. */
function venueOf(component: Component, location: string): source.SourceVenue | undefined {
  const [name = '', ...address] = location.split('\n');
  if (name === '') return undefined;
  // ical.js reads 0 for what is no number.
  const geo = component.lines.get('geo')?.[0]?.trim() ?? '';
  const [, latitude = 'NaN', longitude = 'NaN'] = /:([-+]?[\d.]+);([-+]?[\d.]+)$/.exec(geo) ?? [];
  const place = source.placeAt(Number(latitude), Number(longitude));
  return { name: line(name), address: line(address.join('\n')), ...place };
}

function categoriesOf(component: Component): string[] {
  const lists = properties(component, 'categories', MAX_CATEGORY_LINES);
  const names = lists.flatMap(({ values }) => values.slice(0, source.MAX_LISTED).map((value) => line(String(value))));
  return [...new Set(names.filter((name) => name !== ''))].slice(0, source.MAX_LISTED);
}

/** By name, never by e-mail address. */
function organizersOf(component: Component): source.SourceOrganizer[] {
  return properties(component, 'organizer', source.MAX_LISTED)
    .map(({ params, values }) => ({ name: line(params.cn ?? ''), website: addressOf(String(values[0])) }))
    .filter(({ name }) => name !== '' && !decodeEntities(name).includes('@'));
}

/** IMAGE (RFC 7986), or an attached picture, as The Events Calendar and others write it. By address only. */
function imageOf(component: Component): source.SourceEvent['image'] {
  const isPicture = ({ params, values }: Property) =>
    /^image\//i.test(params.fmttype ?? '') || /\.(png|jpe?g|gif|webp|avif)([?#]|$)/i.test(String(values[0]));
  const attached = properties(component, 'attach', source.MAX_LISTED).filter(isPicture);
  const pictures = [...properties(component, 'image', source.MAX_LISTED), ...attached];
  const url = pictures.map(({ values }) => addressOf(String(values[0]))).find((address) => address !== '');
  return url === undefined ? undefined : { url, width: 0, height: 0 };
}
