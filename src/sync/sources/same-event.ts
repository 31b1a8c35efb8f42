// Decides which events of different calendars are the same one. A wrong answer hides an event, and a missing one only
// shows it twice: every rule asks for the same start, and for more.

import { foldName } from '../../text/html.ts';
import { fold, trimCharactersEnd } from '../../text/text.ts';

export interface Place {
  name: string;
  city: string;
  latitude: number | null;
  longitude: number | null;
}

export interface Comparable {
  id: number;
  /** `''`: the CMS. Two events of one calendar are never the same. */
  source: string;
  /** Its wall time. */
  start: string;
  startUtc: string;
  /** What it may have in common with another event: `uid …`, `url …`, `title …`. */
  keys: readonly string[];
  places: readonly Place[];
  /** As `bareText`. */
  organizers: readonly string[];
}

/** The event that shows another one, and why. */
export interface Match {
  id: number;
  why: string;
}

/** @param urls addresses that its calendar gives to no other event */
export function matchKeysOf(uid: string, urls: readonly string[], title: string): string[] {
  const keys = [['uid', uid], ...urls.map((url) => ['url', pageOf(url)]), ['title', bareText(title)]];
  return keys.filter(([, text]) => text !== '').map((key) => key.join(' '));
}

/** An event is compared with so many of its title and start. Else the last of 10,000 would be compared with 9,999. */
const MAX_OF_KEY = 100;

/** The events of one start that are shown so far, found by their keys. */
export class KnownEvents {
  readonly #byKey = new Map<string, { event: Comparable; sources: Set<string> }[]>();

  /** Merges the event with the known one that is the same, if there is one: the site's own before those of sources. */
  merge(event: Comparable): Match | undefined {
    const found = event.keys.flatMap((key) => this.#byKey.get(key) ?? []);
    for (const known of found.toSorted((a, b) => Number(a.event.source !== '') - Number(b.event.source !== ''))) {
      if (known.sources.has(event.source)) continue;
      const why = whyTheSame(known.event, event);
      if (why === undefined) continue;
      known.sources.add(event.source);
      return { id: known.event.id, why };
    }
    return undefined;
  }

  add(event: Comparable): void {
    const known = { event, sources: new Set([event.source]) };
    for (const key of event.keys) {
      const others = this.#byKey.get(key) ?? [];
      this.#byKey.set(key, others);
      if (others.length < MAX_OF_KEY) others.push(known);
    }
  }
}

/** Undefined: it is not known that two events of the same start are the same. */
function whyTheSame(a: Comparable, b: Comparable): string | undefined {
  // The first that both have: the UID, else an address, else the title (`matchKeysOf`).
  const shared = b.keys.find((key) => a.keys.includes(key));
  if (shared?.startsWith('uid ')) return 'same UID and start';
  if (shared?.startsWith('url ')) return 'same address and start';
  if (shared === undefined) return undefined;
  // A host may have two courses of one name at one time, in two places.
  if (a.places.length > 0 && b.places.length > 0) {
    const isOfBoth = a.places.some((place) => b.places.some((other) => isSamePlace(place, other)));
    return isOfBoth ? 'same title, start and place' : undefined;
  }
  const hasHostOfBoth = b.organizers.some((host) => host !== '' && a.organizers.includes(host));
  return hasHostOfBoth ? 'same title, start and host' : undefined;
}

/** About 500 metres. */
const NEAR_DEGREES = 0.005;

/** Many towns have a "Main Library": what is known of the town, or of the coordinates, must not differ. */
function isSamePlace(a: Place, b: Place): boolean {
  const haveNames = bareText(a.name) !== '' && bareText(b.name) !== '';
  const isSameName = bareText(a.name) === bareText(b.name) || isWithoutAddress(a, b) || isWithoutAddress(b, a);
  const isOtherTown = bareText(a.city) !== '' && bareText(b.city) !== '' && bareText(a.city) !== bareText(b.city);
  if (!haveNames || !isSameName || isOtherTown) return false;
  if (a.latitude === null || a.longitude === null || b.latitude === null || b.longitude === null) return true;
  return Math.abs(a.latitude - b.latitude) < NEAR_DEGREES && Math.abs(a.longitude - b.longitude) < NEAR_DEGREES;
}

/**
 * Whether the first is `Town Hall`, and the second `Town Hall, 1 Main St, 62701 Springfield`. If the town of the first
 * is known, it must be a part of the second between commas: York is none of `Hall, 10 York St` or `Hall, New York`, and
 * Berlin none of `Berlin Bar, Hamburg`, of which the part before the first comma does not count.
 */
function isWithoutAddress({ name, city }: Place, { name: long }: Place): boolean {
  const [begin = '', ...parts] = long.split(',');
  if (bareText(name) !== bareText(begin)) return false;
  return bareText(city) === '' || parts.some((part) => bareText(withoutNumbers(part)) === bareText(city));
}

/** `62701 Springfield` without its postcode. */
const withoutNumbers = (part: string): string => part.replace(/[^ ]+/g, (word) => (/\d/.test(word) ? '' : word));

/** Letters and digits, folded: `Jazz &amp; Blues!` is `jazzblues`. */
export const bareText = (html: string): string => fold(foldName(html)).replace(/[^\p{L}\p{N}]+/gu, '');

/**
 * The page without what differs between links to it; `''` for a front page, which is no event's. The fragment counts:
 * the pages of some programs differ in nothing else (`/events/#/details/jazz/17`).
 */
function pageOf(text: string): string {
  if (!URL.canParse(text)) return '';
  const { hostname, pathname, search, hash } = new URL(text);
  const path = trimCharactersEnd(pathname, '/') + search + hash;
  return path === '' ? '' : hostname.replace(/^www\./, '') + path;
}
