// Fills an empty site with the demo calendar through a gateway: for the demo with Payload, benchmarks and the
// tests in a browser. The demo with WordPress uses seed.ts. Uploads the images to the CMS, and creates
// everything else through the API.

import { setTimeout as pause } from 'node:timers/promises';
import type { Entry, Town } from './content.ts';
import { drawPicture, PICTURES } from './pictures.ts';

export interface FillOptions {
  /** The API, such as `http://127.0.0.1:3000/calendar/events/v1`. */
  calendar: string;
  /** The `Authorization` header of an account that may write everything. */
  authorization: string;
  /** Of the CMS. */
  upload: Upload;
  /** Concurrent requests. */
  parallel: number;
  /** Called before the first and after each request of a phase. */
  onProgress: (phase: string, done: number, total: number) => void;
}

/** Uploads a picture and resolves with its id. */
export type Upload = (filename: string, png: Uint8Array<ArrayBuffer>) => Promise<number>;

interface RequestBody {
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | FormData;
}

const TRIES = 4;
const TIMEOUT_MS = 120_000;

/** @throws Error with the record, the response and advice */
export async function fillTown(town: Town, options: FillOptions): Promise<void> {
  const { calendar, authorization } = options;
  const ids = new Map<string, number>();
  const idOf = (kind: string, key: string): number => {
    const id = ids.get(`${kind} ${key}`);
    if (id === undefined) throw new Error(`the ${kind} "${key}" of the demo is linked before it is created`);
    return id;
  };

  async function phase<T>(
    name: string,
    items: readonly T[],
    create: (item: T) => Promise<void>,
    parallel = options.parallel,
  ): Promise<void> {
    const queue = [...items];
    let done = 0;
    options.onProgress(name, done, items.length);
    const work = async (): Promise<void> => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        try {
          await create(item);
        } catch (error) {
          queue.length = 0; // running requests finish
          throw error;
        }
        options.onProgress(name, ++done, items.length);
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: parallel }, work));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async function createRecord(kind: string, { key, body, parent, venue, image, ...lists }: Entry): Promise<void> {
    const json = {
      ...body,
      ...(parent === undefined ? {} : { parent: idOf('categories', parent) }),
      ...(venue === undefined ? {} : { venue: [idOf('venues', venue)] }),
      ...(image === undefined ? {} : { image: String(idOf('pictures', image)) }),
      ...(lists.organizers ? { organizer: lists.organizers.map((each) => idOf('organizers', each)) } : {}),
      ...(lists.categories ? { categories: lists.categories.map((each) => idOf('categories', each)) } : {}),
      ...(lists.tags ? { tags: lists.tags.map((each) => idOf('tags', each)) } : {}),
    };
    const title = `${kind}, "${String(body.title ?? body.venue ?? body.organizer ?? body.name)}"`;
    const id = await create(title, `${calendar}/${kind}`, {
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    if (key !== undefined) ids.set(`${kind} ${key}`, id);
  }

  const upload = async (name: (typeof PICTURES)[number]): Promise<void> => {
    const id = await options.upload(`gullhaven-${name}.png`, new Uint8Array(drawPicture(name)));
    ids.set(`pictures ${name}`, id);
  };
  // Sequentially: two concurrent uploads both create the month's folder, and WordPress rejects the second.
  await phase('pictures', PICTURES, upload, 1);
  const roots = town.categories.filter(({ parent }) => parent === undefined);
  const children = town.categories.filter(({ parent }) => parent !== undefined);
  await phase('categories', roots, (entry) => createRecord('categories', entry));
  await phase('subcategories', children, (entry) => createRecord('categories', entry));
  await phase('tags', town.tags, (entry) => createRecord('tags', entry));
  await phase('venues', town.venues, (entry) => createRecord('venues', entry));
  await phase('organizers', town.organizers, (entry) => createRecord('organizers', entry));
  await phase('events', town.events, (entry) => createRecord('events', entry));
}

export function wordPressUpload(siteUrl: string, authorization: string): Upload {
  return (filename, png) =>
    create(`media, ${filename}`, `${siteUrl}/?rest_route=/wp/v2/media`, {
      headers: {
        authorization,
        'content-type': 'image/png',
        'content-disposition': `attachment; filename="${filename}"`,
      },
      body: png,
    });
}

export function payloadUpload(siteUrl: string, authorization: string): Upload {
  return (filename, png) => {
    const body = new FormData();
    body.set('file', new Blob([png], { type: 'image/png' }), filename);
    return create(`media, ${filename}`, `${siteUrl}/api/media`, { headers: { authorization }, body });
  };
}

/** Sends a create request, again if the server is busy. */
async function create(title: string, url: string, request: RequestBody): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const { status, text, retryAfterS } = await post(url, request);
    if (status === 201) {
      const { id, doc } = JSON.parse(text) as { id?: number; doc?: { id: number } };
      return Number(doc?.id ?? id); // Payload answers with the record as `doc`
    }
    if (attempt < TRIES && (status === 429 || status === 503)) {
      await pause(Math.min(retryAfterS, 10) * 1000);
      continue;
    }
    throw new Error(
      `creating one of the ${title} failed with status ${status}: ${text.slice(0, 400)}\n` +
        'See the logs in the data folder (gateway.log, and php.log or server.log); npm run demo -- --fresh starts over.',
    );
  }
}

async function post(url: string, { headers, body }: RequestBody) {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    // Drawing a picture may block this process for longer than a site keeps an idle connection.
    const once = { ...headers, connection: 'close' };
    const response = await fetch(url, { method: 'POST', headers: once, body, signal });
    const retryAfterS = Number(response.headers.get('retry-after')) || 1;
    return { status: response.status, text: await response.text(), retryAfterS };
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`${url} does not answer: ${cause instanceof Error ? cause.message : message}`, { cause: error });
  }
}
