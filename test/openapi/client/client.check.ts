// `calendar-gateway/client` against a gateway, and against servers that misbehave.

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type CalendarClient, CalendarError, createCalendarClient } from '../../../dist/client/client.js';
import { getRecord } from '../../../src/store/records.ts';
import { remove, upsert } from '../../store/changes.ts';
import { term } from '../../store/sample-records.ts';
import { CONCERTS, FIRST_ID, startTown, type Town } from '../town.ts';

const UPCOMING = { start_date: '2027-01-01', per_page: 5 } as const;

async function idsOf(records: AsyncIterable<{ id: number }>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of records) ids.push(id);
  return ids;
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

const concertIds = (from = 0, to = CONCERTS) => Array.from({ length: to - from }, (_, n) => FIRST_ID + from + n);

describe('calendar-gateway/client', () => {
  let town: Town;
  let calendar: CalendarClient;
  /** The URLs that the client requested. */
  let requested: URL[];

  beforeEach(async () => {
    town = await startTown();
    requested = [];
    const fetchAndRecord = (request: Request) => {
      requested.push(new URL(request.url));
      return fetch(request);
    };
    calendar = createCalendarClient({ baseUrl: town.url, fetch: fetchAndRecord });
  });
  afterEach(() => town.gateway.stop());

  describe('changes', () => {
    it('are read page by page, and the last token continues', async () => {
      const { data } = await calendar.GET('/changes');
      const { replica } = town.gateway;
      upsert(
        replica,
        Array.from({ length: 501 }, (_, n) => term('tag', 1000 + n)),
      );
      let token = data!.next_token;
      const ids: number[] = [];
      for await (const page of calendar.changes(token)) {
        ids.push(...page.changes.map(({ id }) => id));
        token = page.next_token;
      }
      expect(ids).to.deep.equal(Array.from({ length: 501 }, (_, n) => 1000 + n));
      expect(requested).to.have.length(3);
      remove(replica, 'event', [FIRST_ID]);
      const rest = [];
      for await (const { changes } of calendar.changes(token)) rest.push(...changes);
      expect(rest).to.deep.equal([{ kind: 'event', id: FIRST_ID, change: 'deleted' }]);
    });

    it('throw a CalendarError for a token of another replica', async () => {
      const { data } = await calendar.GET('/changes');
      const foreign = data!.next_token.replace(/\.[^.]+/, '.AAAAAAAAAAAA');
      const error = await failureOf(calendar.changes(foreign).next());
      expect(error).to.be.instanceOf(CalendarError);
      expect(error).to.include({ status: 410, code: 'calendar_changes_gone' });
    });
  });

  describe('single requests', () => {
    it('read a record; its fields have types', async () => {
      const { data } = await calendar.GET('/events/{id}', { params: { path: { id: FIRST_ID } } });
      const title: string | undefined = data?.title;
      expect(title).to.equal('Concert 1');
    });

    it('give the error of an unknown record as a value', async () => {
      const { data, error, response } = await calendar.GET('/events/{id}', { params: { path: { id: 9 } } });
      expect(data).to.equal(undefined);
      expect(response.status).to.equal(404);
      expect(error?.code).to.equal('rest-event-not-found');
    });

    it('create and delete with credentials', async () => {
      const editor = createCalendarClient({ baseUrl: town.url, headers: { Authorization: town.authorization } });
      const body = { title: 'Fair', start_date: '2027-02-01 10:00', end_date: '2027-02-01 12:00' };
      const created = await editor.POST('/events', { body, params: { header: { 'Idempotency-Key': 'fair-1' } } });
      expect(created.response.status, JSON.stringify(created.error)).to.equal(201);
      const id = created.data!.id;
      expect((await editor.DELETE('/events/{id}', { params: { path: { id } } })).response.status).to.equal(200);
    });
  });

  describe('records', () => {
    it('of all pages, each once and in order', async () => {
      expect(await idsOf(calendar.records('/events', UPCOMING))).to.deep.equal(concertIds());
      expect(requested).to.have.length(3);
    });

    it('of a filter with lists: sent as the document says', async () => {
      const query = { ...UPCOMING, categories: ['concerts', 31], venue: [21] };
      expect(await idsOf(calendar.records('/events', query))).to.deep.equal(concertIds());
      expect(requested.map(({ searchParams }) => searchParams.get('categories'))).to.deep.equal(
        Array(3).fill('concerts,31'),
      );
    });

    it('of venues, organizers, categories and tags', async () => {
      expect(await idsOf(calendar.records('/venues'))).to.deep.equal([21]);
      expect(await idsOf(calendar.records('/organizers'))).to.deep.equal([26]);
      expect(await idsOf(calendar.records('/categories'))).to.deep.equal([31]);
      expect(await idsOf(calendar.records('/tags'))).to.deep.equal([]);
    });

    it('of an empty list are none, after one request', async () => {
      expect(await idsOf(calendar.records('/events', { search: 'nothing like it' }))).to.deep.equal([]);
      expect(requested).to.have.length(1);
    });

    it('from a later page on, and none from a page after the last one', async () => {
      expect(await idsOf(calendar.records('/events', { ...UPCOMING, page: 2 }))).to.deep.equal(concertIds(5));
      expect(await idsOf(calendar.records('/events', { ...UPCOMING, page: 99 }))).to.deep.equal([]);
      expect(await idsOf(calendar.records('/categories', { page: 99 }))).to.deep.equal([]);
    });

    it('end without an error if the next page vanishes between two requests', async () => {
      const ids: number[] = [];
      for await (const { id } of calendar.records('/events', UPCOMING)) {
        ids.push(id);
        if (id === FIRST_ID) remove(town.gateway.replica, 'event', concertIds(3));
      }
      expect(ids).to.deep.equal(concertIds(0, 5));
      expect(requested).to.have.length(2);
    });

    it('come once if a new record moves them to the next page', async () => {
      const ids: number[] = [];
      for await (const { id } of calendar.records('/events', UPCOMING)) {
        ids.push(id);
        if (id === FIRST_ID)
          upsert(town.gateway.replica, [{ ...getRecord(town.gateway.replica.db, 'event', id)!, id: 99 }], []);
      }
      expect(ids).to.deep.equal(concertIds());
    });
  });

  describe('pages', () => {
    it('have totals; a loop that ends early requests no further page', async () => {
      for await (const page of calendar.pages('/events', UPCOMING)) {
        expect([page.total, page.total_pages, page.events.length]).to.deep.equal([CONCERTS, 3, 5]);
        break;
      }
      expect(requested).to.have.length(1);
    });

    it('keep relative dates and parameters that are not in the URLs of pages', async () => {
      const query = { start_date: '+1 month', per_page: 5, _fields: 'events.0.id,total_pages,next_rest_url' };
      let pages = 0;
      for await (const { total_pages } of calendar.pages('/events', query)) {
        expect(total_pages).to.equal(3);
        pages++;
      }
      expect(pages).to.equal(3);
      expect(requested[1]!.searchParams.get('start_date')).to.equal('2026-12-20 00:00:00');
      expect(requested[1]!.searchParams.get('_fields')).to.equal(query._fields);
    });
  });

  describe('errors', () => {
    it('of the API are a CalendarError with status, code and the parameters', async () => {
      const error = await failureOf(idsOf(calendar.records('/events', { start_date: 'never' })));
      expect(error).to.be.instanceOf(CalendarError);
      const { status, code, data, message } = error as CalendarError;
      expect({ status, code, message }).to.deep.equal({
        status: 400,
        code: 'rest_invalid_param',
        message: 'Invalid parameter(s): start_date',
      });
      expect(data.params).to.have.property('start_date');
    });

    it('of wrong credentials are 401', async () => {
      const headers = { Authorization: `Basic ${btoa('editor:wrong')}` };
      const error = await failureOf(idsOf(calendar.records('/events', {}, { headers })));
      expect((error as CalendarError).status).to.equal(401);
    });

    it('of an abort between two pages stop the loop with its reason', async () => {
      const abort = new AbortController();
      const ids: number[] = [];
      const loop = async () => {
        for await (const { id } of calendar.records('/events', UPCOMING, { signal: abort.signal })) {
          ids.push(id);
          if (ids.length === 5) abort.abort(new Error('enough'));
        }
      };
      expect(await failureOf(loop())).to.have.property('message', 'enough');
      expect(ids).to.deep.equal(concertIds(0, 5));
    });
  });
});

describe('calendar-gateway/client and a server that misbehaves', () => {
  let stop: (() => void) | undefined;
  afterEach(() => stop?.());

  async function clientOf(listener: RequestListener): Promise<CalendarClient> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    stop = () => {
      server.closeAllConnections();
      server.close();
    };
    return createCalendarClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
  }
  const failure = async (listener: RequestListener) =>
    failureOf(idsOf((await clientOf(listener)).records('/events'))) as Promise<CalendarError>;

  it('gets a CalendarError for an HTML error page, an empty error and an error of another API', async () => {
    const html = await failure((_, res) => res.writeHead(502).end('<h1>Bad Gateway</h1>'));
    expect([html.status, html.code, html.message]).to.deep.equal([502, undefined, '502 Bad Gateway']);
    const empty = await failure((_, res) => res.writeHead(503, { 'Content-Length': 0 }).end());
    expect([empty.status, empty.message]).to.deep.equal([503, '503 Service Unavailable']);
    const other = await failure((_, res) => res.writeHead(500).end('{"code": 7, "message": null, "data": "x"}'));
    expect([other.code, other.data]).to.deep.equal([undefined, {}]);
  });

  it('does not take another document for a list', async () => {
    const error = await failure((_, res) => res.end('{"hello": "world"}'));
    expect(error).to.be.instanceOf(CalendarError).and.have.property('status', 200);
    expect(await failure((_, res) => res.end('null'))).to.be.instanceOf(CalendarError);
    expect(await failure((_, res) => res.end(''))).to.be.instanceOf(CalendarError);
    expect(await failure((_, res) => res.end('<html>'))).to.be.instanceOf(SyntaxError);
  });

  it('ends with an error if every request gets the first page', async () => {
    const page = {
      events: [{ id: 1 }],
      total: 9,
      total_pages: 9,
      next_rest_url: 'http://calendar.example/events/?page=2',
    };
    const error = await failure((_, res) => res.end(JSON.stringify(page)));
    expect(error.message).to.equal('The page after page 2 of /events is page 2.');
  });

  it('stops waiting when it is aborted', async () => {
    const abort = new AbortController();
    const calendar = await clientOf(() => abort.abort());
    const error = await failureOf(idsOf(calendar.records('/events', {}, { signal: abort.signal })));
    expect(error).to.have.property('name', 'AbortError');
  });

  it('throws the network error if nothing listens', async () => {
    const calendar = await clientOf((req) => req.socket.destroy());
    expect(await failureOf(idsOf(calendar.records('/events')))).to.be.instanceOf(TypeError);
  });
});
