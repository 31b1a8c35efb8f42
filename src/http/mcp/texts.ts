// Responses of the API as plain text: without HTML, and each time of day with its zone.

import { type FeedEvent, linesOf, placeOf, titleOf, whenOf } from '../../calendar/feeds/icalendar.ts';
import { isObject, type JsonObject, objectOrEmpty } from '../../model/json.ts';
import { isTermKind, type Kind, PLURALS } from '../../model/records.ts';
import { textLine } from '../../text/html.ts';
import { postalAddress } from '../../text/text.ts';

const MAX_DESCRIPTION = 10_000;
const MAX_EXCERPT = 300;

const namesOf = (value: unknown, name: string): string =>
  [value]
    .flat()
    .flatMap((one) => (isObject(one) && typeof one[name] === 'string' ? [textLine(one[name])] : []))
    .join(', ');

/** `Cost: 10 €`; no line without a value. */
const labelled = (label: string, value: string): string[] => (value === '' ? [] : [`${label}: ${value}`]);

function textOfEvent(body: JsonObject, html: string, maxCharacters: number): string {
  const event = body as unknown as FeedEvent;
  const state = event.status === 'publish' ? '' : ` (${event.status})`;
  const lines = [
    `Event ${event.id}: ${titleOf(event)}${state}`.trimEnd(),
    whenOf(event),
    ...labelled('Event status', event.event_status ?? ''),
    placeOf(event),
    ...labelled('Organizer', namesOf(body.organizer, 'organizer')),
    ...labelled('Categories', namesOf(body.categories, 'name')),
    ...labelled('Cost', textLine(String(body.cost ?? ''))),
    event.url,
    ...linesOf(event, html, maxCharacters),
  ];
  return lines.filter((line) => line !== '').join('\n');
}

export const eventText = (body: JsonObject): string =>
  textOfEvent(body, String(body.description ?? ''), MAX_DESCRIPTION);

function lineOf(kind: Kind, record: JsonObject): string {
  const name = namesOf(record, isTermKind(kind) ? 'name' : kind);
  const place = kind === 'venue' ? textLine(postalAddress(record)) : '';
  return `${kind} ${record.id}: ${[name, place].filter((part) => part !== '').join(', ')}`;
}

export function listText(kind: Kind, body: JsonObject, page: unknown = 1): string {
  const records = (body[PLURALS[kind]] ?? []) as JsonObject[];
  const texts = records.map((one) =>
    kind === 'event' ? textOfEvent(one, String(one.excerpt ?? ''), MAX_EXCERPT) : lineOf(kind, one),
  );
  const head = `${body.total} ${body.total === 1 ? kind : PLURALS[kind]}, page ${page} of ${body.total_pages}.`;
  return [head, ...texts].join(kind === 'event' ? '\n\n' : '\n');
}

/** The error with each parameter that it names, and what to write instead. */
export function errorText({ message, data }: JsonObject): string {
  const { params, hints } = objectOrEmpty(data);
  // Of missing parameters `params` is a list of names, which the message has already.
  const lines = Object.entries(objectOrEmpty(params)).map(
    ([name, why]) => `${name}: ${objectOrEmpty(hints)[name] ?? why}`,
  );
  return [String(message), ...lines].join('\n');
}
