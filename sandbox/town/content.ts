// The demo calendar as bodies for the API's create routes. Links are keys until the ids are known.

import { Temporal } from 'temporal-polyfill';
import events from './events.json' with { type: 'json' };
import type { Picture } from './pictures.ts';
import places from './places.json' with { type: 'json' };
import { occurrencesOf, type When } from './recurrence.ts';

/** A body, and the keys of the records that it links to. */
export interface Entry {
  /** For links from other entries; events have none. */
  key?: string;
  body: Record<string, unknown>;
  /** Keys of the linked records. */
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
  /** The dates of a series use them in turn. */
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
  eventStatus?: string;
  eventStatusReason?: string;
  showMap?: boolean;
  showMapLink?: boolean;
  featured?: boolean;
  sticky?: boolean;
  hidden?: boolean;
}

/** The site's time zone, and the default for events. */
const HOME_ZONE = 'America/New_York';
const ANNOUNCED_DAYS_BEFORE = 40;

/** @param today on the site's clock: the same day gives the same calendar */
export function townCalendar(today: Temporal.PlainDate): Town {
  const { categories, tags, venues, organizers } = places;
  const dated = (events as EventText[]).flatMap((event) => entriesOf(event, today));
  return {
    categories: categories.map(entry),
    tags: tags.map(entry),
    venues: venues.map(entry),
    organizers: organizers.map(entry),
    events: dated.sort((a, b) => (String(a.body.start_date) < String(b.body.start_date) ? -1 : 1)),
  };
}

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
  return occurrencesOf(when, today).map(({ allDay, start, end, year, daysAway }, index) => {
    const announced = today.add({ days: Math.min(daysAway, 0) - ANNOUNCED_DAYS_BEFORE });
    return {
      body: {
        title: titles[index % titles.length]!.replace('{year}', String(year)),
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
        ...(event.eventStatus === undefined
          ? {}
          : { event_status: event.eventStatus, event_status_reason: event.eventStatusReason }),
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
