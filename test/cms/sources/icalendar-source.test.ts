// The iCalendar source over HTTP: what it asks for, when nothing changed, and what it says of failures.

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { PublicRequestError } from '../../../src/cms/public-request.ts';
import { createICalendarSource } from '../../../src/cms/sources/icalendar.ts';

const FEED = 'BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nSUMMARY:A\nDTSTART:20270510T160000Z\nEND:VEVENT\nEND:VCALENDAR\n';
const DAY_MS = 86_400_000;

describe('an iCalendar source', () => {
  let server: Server;
  let nowMs: number;
  let respond: RequestListener;
  const { signal } = new AbortController();
  const sourceOf = (allowPrivate: boolean) => {
    const url = `webcal://127.0.0.1:${(server.address() as AddressInfo).port}/a.ics`;
    return createICalendarSource(url, { timezone: () => 'Europe/Berlin', nowMs: () => nowMs, allowPrivate });
  };

  beforeEach(async () => {
    nowMs = Date.UTC(2027, 4, 1);
    server = createServer((request, response) => respond(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('asks for a change, and reads again on the next day', async () => {
    const asked: (string | undefined)[] = [];
    respond = ({ headers }, response) => {
      const tag = headers['if-none-match'];
      asked.push(tag);
      response.writeHead(tag === '"1"' ? 304 : 200, { etag: '"1"' }).end(tag === '"1"' ? undefined : FEED);
    };
    const source = sourceOf(true);
    const first = await source.read(undefined, signal);
    expect(first?.events.map(({ uid }) => uid)).to.deep.equal(['a']);
    expect(await source.read(first?.validators, signal)).to.equal(undefined);
    nowMs += DAY_MS;
    expect((await source.read(first?.validators, signal))?.events).to.have.length(1);
    expect(asked).to.deep.equal([undefined, '"1"', undefined]);
  });

  it('compares what a server sends that knows no conditions', async () => {
    let feed = FEED;
    respond = (_request, response) => void response.end(feed);
    const source = sourceOf(true);
    const first = await source.read(undefined, signal);
    expect(await source.read(first?.validators, signal)).to.equal(undefined);
    feed = FEED.replace('SUMMARY:A', 'SUMMARY:B');
    expect((await source.read(first?.validators, signal))?.events[0]?.title).to.equal('B');
  });

  it('takes a 304 that it did not ask for as a failure', async () => {
    respond = (_request, response) => void response.writeHead(304).end();
    const error = await sourceOf(true)
      .read(undefined, signal)
      .catch((reason: Error) => reason);
    expect(error).to.be.instanceOf(PublicRequestError).with.property('message', 'answered with status 304');
  });

  it('says what failed, and calls no private host unless it may', async () => {
    respond = (_request, response) => void response.writeHead(404).end(FEED);
    const failureOf = (allowPrivate: boolean) =>
      sourceOf(allowPrivate)
        .read(undefined, signal)
        .then(
          () => undefined,
          (error: unknown) => error,
        );
    for (const [allowPrivate, message] of [
      [true, 'answered with status 404'],
      [false, '127.0.0.1 is not a public host'],
    ] as const) {
      const error = await failureOf(allowPrivate);
      expect(error).to.be.instanceOf(PublicRequestError).with.property('message', message);
    }
  });
});
