// The town's calendar as bodies of the interface's create routes; other records are named by key until their ids are known.

import { Temporal } from 'temporal-polyfill';
import events from './events.json' with { type: 'json' };
import { occasionsOf, type When } from './occasions.ts';
import type { Picture } from './pictures.ts';
import places from './places.json' with { type: 'json' };

/** A body to send, and which keys stand for which ids in it. */
export interface Entry {
  /** What other entries name it by; events need none. */
  key?: string;
  body: Record<string, unknown>;
  /** Field -> keys of the records that it names. */
  categories?: readonly string[];
  tags?: readonly string[];
  organizers?: readonly string[];
  parent?: string;
  venue?: string;
  image?: Picture;
}

export interface Town {
  categories: Entry[];
  tags: Entry[];
  venues: Entry[];
  organizers: Entry[];
  events: Entry[];
}

interface EventText {
  title?: string;
  /** Taken in turn by the dates of a series. */
  titles?: string[];
  when: When;
  zone?: string;
  excerpt: string;
  text: string[];
  venue?: string;
  organizers: string[];
  categories: string[];
  tags: string[];
  cost?: string | string[];
  image?: Picture;
  website?: string;
  status?: string;
  showMap?: boolean;
  showMapLink?: boolean;
  featured?: boolean;
  sticky?: boolean;
  hidden?: boolean;
}

/** The zone of the site: where an event does not say its own, it is at home. */
export const HOME_ZONE = 'America/New_York';
const ANNOUNCED_DAYS_BEFORE = 40;

/**
 * Everything there is to create.
 * @param today on the site's clock; the same day always gives the same town
 */
export function townCalendar(today: Temporal.PlainDate): Town {
  const { categories, tags, venues, organizers } = places;
  const dated = (events as EventText[]).flatMap((event) => entriesOf(event, today));
  return {
    categories: categories.map(entry),
    tags: tags.map(entry),
    venues: venues.map(entry),
    organizers: organizers.map(entry),
    events: dated.sort((one, other) => (String(one.body.start_date) < String(other.body.start_date) ? -1 : 1)),
  };
}

/** Today where the town is. */
export const townToday = (): Temporal.PlainDate => Temporal.Now.plainDateISO(HOME_ZONE);

function entry(record: object & { key: string; parent?: string; image?: string }): Entry {
  const { key, parent, image, ...body } = record;
  return {
    key,
    body,
    ...(parent === undefined ? {} : { parent }),
    ...(image === undefined ? {} : { image: image as Picture }),
  };
}

function entriesOf(event: EventText, today: Temporal.PlainDate): Entry[] {
  const { title, titles = [title ?? ''], when, zone = HOME_ZONE, text, categories, tags, organizers } = event;
  return occasionsOf(when, today).map(({ allDay, start, end, year, daysAway }, place) => {
    const announced = today.add({ days: Math.min(daysAway, 0) - ANNOUNCED_DAYS_BEFORE });
    return {
      body: {
        title: titles[place % titles.length]!.replace('{year}', String(year)),
        excerpt: event.excerpt,
        description: text.join('\n\n'),
        start_date: start,
        end_date: end,
        timezone: zone,
        all_day: allDay,
        status: event.status ?? 'publish',
        ...(event.status === undefined ? { date: `${announced} 09:00:00` } : {}),
        show_map: event.showMap ?? false,
        show_map_link: event.showMapLink ?? false,
        featured: event.featured ?? false,
        sticky: event.sticky ?? false,
        hide_from_listings: event.hidden ?? false,
        ...(event.cost === undefined ? {} : { cost: event.cost }),
        ...(event.website === undefined ? {} : { website: event.website }),
      },
      categories,
      tags,
      organizers,
      ...(event.venue === undefined ? {} : { venue: event.venue }),
      ...(event.image === undefined ? {} : { image: event.image }),
    };
  });
}
