// Fills an empty site with the town's calendar: pictures into the media library, everything else through the gateway's create routes.

import { setTimeout as pause } from 'node:timers/promises';
import type { Entry, Town } from './content.ts';
import { drawPicture, PICTURES } from './pictures.ts';

export interface FillOptions {
  /** The interface, such as `http://127.0.0.1:3000/calendar/events/v1`. */
  calendar: string;
  /** The WordPress site, for the uploads. */
  siteUrl: string;
  /** Somebody who may write everything. */
  user: string;
  applicationPassword: string;
  /** Requests under way at once. */
  parallel: number;
  /** Told before the first and after each request of a phase. */
  onProgress: (phase: string, done: number, total: number) => void;
}

/** How many requests {@link fillTown} makes. */
export const requestsFor = (town: Town): number => PICTURES.length + Object.values(town).flat().length;

interface Sent {
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
}

const TRIES = 4;
const TIMEOUT_MS = 120_000;

/** @throws Error naming the record, what was answered and what to do */
export async function fillTown(town: Town, options: FillOptions): Promise<void> {
  const { calendar, siteUrl } = options;
  const headers = {
    authorization: `Basic ${Buffer.from(`${options.user}:${options.applicationPassword}`).toString('base64')}`,
  };
  const ids = new Map<string, number>();
  const idOf = (kind: string, key: string): number => {
    const id = ids.get(`${kind} ${key}`);
    if (id === undefined) throw new Error(`the town's ${kind} "${key}" is named before it is made`);
    return id;
  };

  async function phase<T>(
    name: string,
    items: readonly T[],
    make: (item: T) => Promise<void>,
    parallel = options.parallel,
  ): Promise<void> {
    const queue = [...items];
    let done = 0;
    options.onProgress(name, done, items.length);
    const work = async (): Promise<void> => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        try {
          await make(item);
        } catch (error) {
          queue.length = 0; // the others finish what they are at
          throw error;
        }
        options.onProgress(name, ++done, items.length);
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: parallel }, work));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async function make(kind: string, { key, body, parent, venue, image, ...lists }: Entry): Promise<void> {
    const json = {
      ...body,
      ...(parent === undefined ? {} : { parent: idOf('categories', parent) }),
      ...(venue === undefined ? {} : { venue: [idOf('venues', venue)] }),
      ...(image === undefined ? {} : { image: String(idOf('pictures', image)) }),
      ...(lists.organizers ? { organizer: lists.organizers.map((one) => idOf('organizers', one)) } : {}),
      ...(lists.categories ? { categories: lists.categories.map((one) => idOf('categories', one)) } : {}),
      ...(lists.tags ? { tags: lists.tags.map((one) => idOf('tags', one)) } : {}),
    };
    const what = `${kind}, "${String(body.title ?? body.venue ?? body.organizer ?? body.name)}"`;
    const id = await create(what, `${calendar}/${kind}`, {
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    if (key !== undefined) ids.set(`${kind} ${key}`, id);
  }

  const upload = async (name: (typeof PICTURES)[number]): Promise<void> => {
    const id = await create(`media, ${name}.png`, `${siteUrl}/?rest_route=/wp/v2/media`, {
      headers: {
        ...headers,
        'content-type': 'image/png',
        'content-disposition': `attachment; filename="gullhaven-${name}.png"`,
      },
      body: new Uint8Array(drawPicture(name)),
    });
    ids.set(`pictures ${name}`, id);
  };
  // One after the other: two at once both make the month's folder, and WordPress refuses the one that comes second.
  await phase('pictures', PICTURES, upload, 1);
  const [tops, subs] = [town.categories.filter((one) => !one.parent), town.categories.filter((one) => one.parent)];
  await phase('categories', tops, (one) => make('categories', one));
  await phase('subcategories', subs, (one) => make('categories', one));
  await phase('tags', town.tags, (one) => make('tags', one));
  await phase('venues', town.venues, (one) => make('venues', one));
  await phase('organizers', town.organizers, (one) => make('organizers', one));
  await phase('events', town.events, (one) => make('events', one));
}

/** Creates one record; a server that is busy for the moment is asked again. */
async function create(what: string, url: string, sent: Sent): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const { status, text, retryAfterS } = await post(url, sent);
    if (status === 201) return Number((JSON.parse(text) as { id: number }).id);
    if (attempt < TRIES && (status === 429 || status === 503)) {
      await pause(Math.min(retryAfterS, 10) * 1000);
      continue;
    }
    throw new Error(
      `creating one of the ${what} was answered with ${status}: ${text.slice(0, 400)}\n` +
        'The logs in the data folder (gateway.log, php.log) tell more; npm run demo -- --fresh starts over.',
    );
  }
}

async function post(url: string, { headers, body }: Sent) {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    const retryAfterS = Number(response.headers.get('retry-after')) || 1;
    return { status: response.status, text: await response.text(), retryAfterS };
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`${url} does not answer: ${cause instanceof Error ? cause.message : message}`, { cause: error });
  }
}
