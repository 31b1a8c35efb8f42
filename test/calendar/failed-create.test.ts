// A create that WordPress refuses after its venue was created, over HTTP: nock answers every request to the CMS.

import { expect } from 'chai';
import nock from 'nock';
import type { Cms } from '../../src/cms/port.ts';
import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import type { Observation } from '../../src/observability/observations.ts';
import { recording, replay, watchUnrecorded, withoutNetwork } from '../cms/replay.ts';
import { type Json, startGateway, type TestGateway } from '../start-gateway.ts';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const SITE = 'http://cms.example';
const ADMIN = `Basic ${Buffer.from('admin:recorded').toString('base64')}`;
const RECORDING = 'gateway-links';
const TIMES = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };
/** The recorded site has neither this event nor a venue of this name before the first request. */
const BODY = { title: 'Refused', ...TIMES, venue: { venue: 'Town Hall' } };
/** The venue that the recorded WordPress creates, and the event that it has with that venue. */
const VENUE_ID = 4;
const EVENT_ID = 19;
/** What WordPress gets for `BODY` once it has the venue. A request with another venue would have no answer. */
const SENT = {
  title: 'Refused',
  status: 'publish',
  meta: { all_day: false, ...TIMES, timezone: 'America/New_York', venue_ids: [VENUE_ID] },
};
const REFUSAL = {
  code: 'rest_meta_database_error',
  message: 'Could not update the meta value.',
  data: { status: 500 },
};

const answerOnce = (method: string, path: string, body: Json | undefined, status: number, response: Json): unknown =>
  nock.define([
    {
      scope: SITE,
      method,
      path,
      ...(body && { body }),
      status,
      response,
      rawHeaders: { 'content-type': 'application/json' },
    },
  ] as unknown as nock.Definition[]);

describe('a create that WordPress refuses after its venue was created', () => {
  withoutNetwork();
  let cms: Cms;
  let gateway: TestGateway;
  /** The writes that WordPress got. */
  let writes: string[];

  const post = (headers = {}) => gateway.request('/events', { as: 'admin', json: BODY, headers });

  beforeEach(async () => {
    writes = [];
    replay(RECORDING);
    const unrecorded = watchUnrecorded();
    const observe = (event: Observation) => {
      unrecorded.observe(event);
      if ((event.type === 'cms-call' || event.type === 'cms-failed') && !READS.has(event.method))
        writes.push(`${event.method} ${event.path}`);
    };
    cms = createWordPress({ url: SITE, observe, limits: { retries: 0 } });
    const recordedMs = Date.parse(recording(RECORDING)[0]!.rawHeaders.date!);
    const clock = { nowMs: () => recordedMs, isRecorded: true };
    const started = startGateway({ cms, as: { admin: ADMIN }, service: ADMIN, ...clock });
    gateway = await Promise.race([started, unrecorded.failed]);
    writes = [];
  });
  afterEach(async () => {
    await gateway?.stop();
    await cms.close();
  });

  it('names the venue, deletes nothing, and the repeated request uses that venue', async () => {
    const kept = recording(RECORDING).find(
      ({ method, response }) => method === 'POST' && (response as Json).id === EVENT_ID,
    );
    answerOnce('POST', '/wp-json/wp/v2/events', SENT, 400, REFUSAL);
    answerOnce('POST', '/wp-json/wp/v2/events', SENT, 201, kept!.response as Json);
    const refused = await post();
    expect(refused.body.data.created).to.deep.equal([{ kind: 'venue', id: VENUE_ID }]);
    const created = await post();
    expect([created.status, created.body.id]).to.deep.equal([201, EVENT_ID]);
    expect(writes).to.deep.equal(['POST /wp/v2/venues', 'POST /wp/v2/events', 'POST /wp/v2/events']);
  });

  it('names the event that WordPress kept, and creates no second one for the Idempotency-Key', async () => {
    answerOnce('POST', '/wp-json/wp/v2/events', SENT, 400, REFUSAL);
    const kept = { created: [{ collection: 'events', id: EVENT_ID }] };
    nock(SITE)
      .get(/\/calendar-gateway\/v1\/created\?key=[0-9a-f]{64}$/)
      .reply(200, kept);
    const names = [
      { kind: 'venue', id: VENUE_ID },
      { kind: 'event', id: EVENT_ID },
    ];
    const first = await post({ 'idempotency-key': 'k' });
    expect(first.body.data.created).to.deep.equal(names);
    const again = await post({ 'idempotency-key': 'k' });
    expect([again.status, again.body]).to.deep.equal([first.status, first.body]);
    expect(writes).to.deep.equal(['POST /wp/v2/venues', 'POST /wp/v2/events']);
  });
});
