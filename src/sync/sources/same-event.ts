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

/** What is compared of an event. Texts are HTML. */
export interface Comparable {
  id: number;
  /** `''`: the CMS. Two events of one calendar are never the same. */
  source: string;
  uid: string;
  /** Addresses that this calendar gives to no other event. */
  urls: readonly string[];
  startUtc: string;
  title: string;
  places: readonly Place[];
  hosts: readonly string[];
}

/** The events that are shown so far, found by what they may have in common with another one. */
export class KnownEvents {
  readonly #byKey = new Map<string, { event: Comparable; sources: Set<string> }[]>();
  readonly #ids = new Set<number>();

  has(id: number): boolean {
    return this.#ids.has(id);
  }

  /** The known event that is this one, and why: the site's own before those of sources. Then the two are merged. */
  match(event: Comparable): { id: number; why: string } | undefined {
    const found = keysOf(event).flatMap((key) => this.#byKey.get(key) ?? []);
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
    this.#ids.add(event.id);
    const known = { event, sources: new Set([event.source]) };
    for (const key of new Set(keysOf(event))) this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), known]);
  }
}

function keysOf({ uid, urls, startUtc, title }: Comparable): string[] {
  const names = [uid && `uid ${uid}`, ...urls.map((url) => pageOf(url) && `url ${pageOf(url)}`), letters(title)];
  return names.filter((name) => name !== '').map((name) => `${startUtc} ${name}`);
}

/** Undefined: they are not known to be the same. */
export function whyTheSame(a: Comparable, b: Comparable): string | undefined {
  if (a.source === b.source || a.startUtc !== b.startUtc) return undefined;
  if (a.uid !== '' && a.uid === b.uid) return 'same UID and start';
  const pages = new Set(a.urls.map(pageOf));
  if (b.urls.some((url) => pageOf(url) !== '' && pages.has(pageOf(url)))) return 'same address and start';
  if (letters(a.title) === '' || letters(a.title) !== letters(b.title)) return undefined;
  // A host may have two courses of one name at one time, in two places.
  if (a.places.length > 0 && b.places.length > 0)
    return a.places.some((place) => b.places.some((other) => isSamePlace(place, other)))
      ? 'same title, start and place'
      : undefined;
  const hosts = new Set(a.hosts.map(letters));
  return b.hosts.some((host) => letters(host) !== '' && hosts.has(letters(host)))
    ? 'same title, start and host'
    : undefined;
}

/** About 500 metres. */
const NEAR_DEGREES = 0.005;

/** Many towns have a "Main Library": what is known of the town, or of the coordinates, must not differ. */
function isSamePlace(a: Place, b: Place): boolean {
  if (letters(a.name) === '' || letters(a.name) !== letters(b.name)) return false;
  if (letters(a.city) !== '' && letters(b.city) !== '' && letters(a.city) !== letters(b.city)) return false;
  if (a.latitude === null || a.longitude === null || b.latitude === null || b.longitude === null) return true;
  return Math.abs(a.latitude - b.latitude) < NEAR_DEGREES && Math.abs(a.longitude - b.longitude) < NEAR_DEGREES;
}

/** Letters and digits, folded: `Jazz &amp; Blues!` is `jazzblues`. */
const letters = (html: string): string => fold(foldName(html)).replace(/[^\p{L}\p{N}]+/gu, '');

/** The page without what differs between links to it; `''` for a front page, which is no event's. */
function pageOf(text: string): string {
  if (!URL.canParse(text)) return '';
  const { hostname, pathname, search } = new URL(text);
  const path = trimCharactersEnd(pathname, '/') + search;
  return path === '' ? '' : hostname.replace(/^www\./, '') + path;
}
