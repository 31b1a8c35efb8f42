// `/mcp` on the wire: which requests it takes, what each tool answers, and what hostile arguments get.

import { expect } from 'chai';
import { READ_TOOLS } from '../../../src/http/mcp/tools.ts';
import { seededGateway } from '../../calendar/seeded-gateway.ts';
import type { FakeCms } from '../../cms/fake-cms.ts';
import type { Json, RequestOptions, TestGateway, TestResponse } from '../../start-gateway.ts';
import { event, organizer, term, venue } from '../../store/sample-records.ts';

const at = { start: '2027-03-12 19:00:00', end: '2027-03-12 21:00:00', timezone: 'Europe/Berlin' };
const utc = { startUtc: '2027-03-12 18:00:00', endUtc: '2027-03-12 20:00:00' };
const RECORDS = [
  event(1, { ...at, ...utc, title: 'Drums &amp; <em>Bass</em>', venues: [21], organizers: [26], categories: [31] }),
  event(2, { ...at, ...utc, title: 'Flood', eventStatus: 'cancelled', eventStatusReason: 'Storm' }),
  venue(21, { title: 'Old Pier', city: 'Gullhaven' }),
  organizer(26, { title: 'Music Society' }),
  term('category', 31, { name: 'Concerts', slug: 'concerts' }),
];
const READS = ['search_events', 'get_event', 'list_venues', 'list_organizers', 'list_categories'];
const WRITES = ['create_event', 'update_event', 'cancel_event', 'delete_event'];
const EVENING = { title: 'Evening', start_date: '2027-05-01 19:00', end_date: '2027-05-01 21:00' };

describe('/mcp', () => {
  let gateway: TestGateway;
  afterEach(() => gateway.stop());

  const start = async (options: Parameters<typeof seededGateway>[1] = {}) => {
    gateway = await seededGateway(RECORDS, options);
  };
  const startWriting = () => start({ mcp: 'write' });
  const cms = () => gateway.cms as FakeCms;

  function post(json: unknown, { headers, ...options }: RequestOptions = {}): Promise<TestResponse> {
    const accept = 'application/json, text/event-stream';
    return gateway.requestPath('/mcp', { json, headers: { accept, ...headers }, ...options });
  }
  const rpc = (method: string, params: unknown = {}, options: RequestOptions = {}) =>
    post({ jsonrpc: '2.0', id: 1, method, params }, options);
  async function call(name: string, args: unknown = {}, as?: string): Promise<Json> {
    const { body, text } = await rpc('tools/call', { name, arguments: args }, { as });
    expect(text).to.not.match(/\bat .*\.(ts|js):\d+|node_modules/);
    return body.result ?? body;
  }
  const textOf = (result: Json): string => result.content[0].text;

  describe('answers', () => {
    it('POST only, and says so', async () => {
      await start();
      for (const method of ['GET', 'DELETE', 'PUT', 'HEAD']) {
        const { status, headers } = await gateway.requestPath('/mcp', { method });
        expect([status, headers.allow], method).to.deep.equal([405, 'POST, OPTIONS']);
      }
      expect((await rpc('ping')).body).to.deep.equal({ jsonrpc: '2.0', id: 1, result: {} });
      const note = await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
      expect([note.status, note.text]).to.deep.equal([202, '']);
    });

    it('nothing when it is off, and writes only if the setting says so', async () => {
      await start({ mcp: 'off' });
      expect((await rpc('ping')).body.code).to.equal('rest_no_route');
      await gateway.stop();
      await start();
      const names = async () => (await rpc('tools/list')).body.result.tools.map(({ name }: Json) => name);
      expect(await names()).to.deep.equal(READS);
      for (const name of WRITES) expect((await call(name, { id: 1 }, 'admin')).error.code, name).to.equal(-32602);
      expect(cms().writes).to.deep.equal([]);
      await gateway.stop();
      await startWriting();
      expect(await names()).to.deep.equal([...READS, ...WRITES]);
    });

    it('scripts of allowed origins and of its own only', async () => {
      await start({ allowedOrigins: ['https://www.example.org'] });
      const status = async (origin: string) => {
        const response = await rpc('ping', {}, { headers: { origin } });
        return [response.status, response.headers['access-control-allow-origin']];
      };
      for (const origin of ['https://www.example.org', 'https://calendar.example'])
        expect(await status(origin)).to.deep.equal([200, origin]);
      for (const origin of ['https://evil.example', 'http://calendar.example', 'null', ''])
        expect((await status(origin))[0], origin).to.equal(403);
      const preflight = await gateway.requestPath('/mcp', {
        ...{ method: 'OPTIONS', headers: { origin: 'https://www.example.org' } },
      });
      expect(preflight.status).to.equal(204);
      expect(preflight.headers['access-control-allow-headers']).to.include('Mcp-Protocol-Version');
      await gateway.stop();
      // An empty list lets every script read the API, but call no tool.
      await start();
      expect((await status('https://evil.example'))[0]).to.equal(403);
    });

    it('as one route in the log, with the request that it became', async () => {
      await start();
      await rpc('tools/call', { name: 'get_event', arguments: { id: 1 } }, { headers: { 'x-request-id': 'mine' } });
      const requests = gateway.observations.flatMap((one) =>
        one.type === 'request' ? [`${one.id} ${one.route}`] : [],
      );
      expect(requests).to.deep.equal(['mine read /events/{id}', 'mine mcp']);
    });

    it('counts both in the rate limit of the client', async () => {
      await start({ limits: { requestsPerMinute: 5 } });
      expect(textOf(await call('get_event', { id: 1 }))).to.include('Drums');
      expect(textOf(await call('get_event', { id: 1 }))).to.include('Drums');
      expect(textOf(await call('get_event', { id: 1 }))).to.include('Too many requests');
      expect((await rpc('ping')).status).to.equal(429);
    });

    it('no list of messages, and no body that is too large or too deep', async () => {
      await start({ limits: { bodyBytes: 10_000 } });
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      expect((await post([ping, ping])).status).to.equal(400);
      expect((await post({ ...ping, params: { text: 'x'.repeat(10_000) } })).status).to.equal(413);
      const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
      const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
      expect((await gateway.requestPath('/mcp', { body: deep, headers })).status).to.equal(400);
      expect((await gateway.requestPath('/mcp', { body: '{', headers })).status).to.equal(400);
    });
  });

  describe('tells assistants', () => {
    it('what each tool does to the calendar', async () => {
      await startWriting();
      const { tools } = (await rpc('tools/list')).body.result;
      for (const { name, description, annotations, inputSchema } of tools) {
        expect(annotations.readOnlyHint, name).to.equal(READS.includes(name));
        expect(description.length, name).to.be.greaterThan(15);
        expect(inputSchema.additionalProperties, name).to.equal(false);
        for (const [key, schema] of Object.entries<Json>(inputSchema.properties))
          expect(schema.description, `${name} ${key}`).to.be.a('string');
      }
      const hints = Object.fromEntries(tools.map(({ name, annotations }: Json) => [name, annotations.destructiveHint]));
      expect(hints).to.include({ create_event: false, update_event: true, cancel_event: true, delete_event: true });
    });

    it('events in plain text, with the zone of their times', async () => {
      await start();
      const text = textOf(await call('get_event', { id: 1 }));
      expect(text.split('\n').slice(0, 5)).to.deep.equal([
        'Event 1: Drums & Bass',
        '2027-03-12 19:00 to 21:00 (Europe/Berlin)',
        'Old Pier, Gullhaven',
        'Organizer: Music Society',
        'Categories: Concerts',
      ]);
      const found = textOf(await call('search_events', { event_status: ['cancelled'] }));
      expect(found).to.match(/^1 event, page 1 of 1\.\n\nEvent 2: Cancelled: Flood\n.+\nEvent status: cancelled\n/);
      expect(textOf(await call('list_venues'))).to.equal('1 venue, page 1 of 1.\nvenue 21: Old Pier, Gullhaven');
      expect(textOf(await call('list_organizers'))).to.include('organizer 26: Music Society');
      expect(textOf(await call('list_categories', { hide_empty: false }))).to.include('category 31: Concerts');
    });

    it('which argument is wrong, and what to write instead', async () => {
      await start();
      expect(textOf(await call('search_events', { start_date: 'someday' }))).to.equal(
        'Invalid parameter(s): start_date\n' +
          'start_date: This is no date. Write 2027-05-01, 2027-05-01 19:30, today or +1 week.',
      );
      const unknown = textOf(await call('search_events', { when: 'today' }));
      expect(unknown).to.match(/additional properties when\. .*\bstart_date\b/);
    });
  });

  it('logs an unexpected error, and does not tell its message', async () => {
    await start();
    const tool = READ_TOOLS.find(({ name }) => name === 'get_event')!;
    const { text } = tool;
    tool.text = () => {
      throw new Error('secret');
    };
    try {
      const result = await call('get_event', { id: 1 });
      expect(result.isError).to.equal(true);
      expect(JSON.stringify(result)).to.include('The gateway could not answer this request.').and.not.include('secret');
    } finally {
      tool.text = text;
    }
    const [failed, ...more] = gateway.observations.filter(({ type }) => type === 'request-failed');
    expect(more).to.deep.equal([]);
    expect(failed).to.have.nested.property('error.message', 'secret');
  });

  describe('writes', () => {
    it('an event once for each key', async () => {
      await startWriting();
      const args = { ...EVENING, idempotency_key: 'first' };
      const [one, two] = [await call('create_event', args, 'editor'), await call('create_event', args, 'editor')];
      expect(one.structuredContent.id).to.equal(two.structuredContent.id);
      expect(cms().writes).to.have.length(1);
      const other = await call('create_event', { ...args, title: 'Other' }, 'editor');
      expect([other.isError, other.structuredContent.code]).to.deep.equal([true, 'calendar_idempotency_key_reused']);
    });

    it('changes, a cancellation and a removal', async () => {
      await startWriting();
      const { id } = (await call('create_event', EVENING, 'editor')).structuredContent;
      const changed = await call('update_event', { id, title: 'Late' }, 'editor');
      expect(textOf(changed)).to.include(`Event ${id}: Late`);
      const cancelled = await call('cancel_event', { id, event_status_reason: 'Storm' }, 'editor');
      expect(textOf(cancelled)).to.include('Cancelled: Late').and.include('Cancelled: Storm');
      const { body } = await gateway.request(`/events/${id}`);
      expect(body).to.include({ event_status: 'cancelled', event_status_reason: 'Storm' });
      expect((await call('delete_event', { id }, 'editor')).structuredContent.status).to.equal('trash');
      expect((await gateway.request(`/events/${id}`)).status).to.equal(403);
    });

    it('nothing with dry_run, but checks and resolves all', async () => {
      await startWriting();
      const { id } = (await call('create_event', EVENING, 'editor')).structuredContent;
      const before = cms().writes.length;
      const sent = { ...EVENING, categories: ['Concerts', 'Jazz'], venue: [21, { venue: 'New Hall' }], dry_run: true };
      const tried = await call('create_event', { ...sent, idempotency_key: 'key' }, 'editor');
      expect(textOf(tried)).to.match(/^Nothing was written\./);
      expect(tried.structuredContent).to.deep.include({ would: 'create' });
      expect(tried.structuredContent.event).to.deep.include({
        ...{ title: 'Evening', status: 'publish', start_date: '2027-05-01 19:00:00' },
        ...{ categories: [31, 'new'], venue: [21, 'new'] },
      });
      const contributor = await call('create_event', sent, 'contributor');
      expect(contributor.structuredContent.event.status).to.equal('draft');
      const update = await call('update_event', { id, title: 'Late', dry_run: true }, 'editor');
      expect(update.structuredContent).to.deep.equal({ would: 'update', event: { title: 'Late' } });
      const trash = await call('update_event', { id, status: 'trash', dry_run: true }, 'editor');
      expect(trash.structuredContent.event).to.deep.equal({ status: 'trash' });
      const cancel = await call('cancel_event', { id, dry_run: true }, 'editor');
      expect(cancel.structuredContent).to.deep.equal({ would: 'update', event: { event_status: 'cancelled' } });
      const removal = await call('delete_event', { id, dry_run: true }, 'editor');
      expect(removal.structuredContent).to.deep.equal({ would: 'delete', event: { id, title: 'Evening' } });
      for (const args of [
        { ...sent, start_date: 'someday' },
        { ...sent, venue: [99] },
        { ...sent, title: '' },
      ])
        expect((await call('create_event', args, 'editor')).isError).to.equal(true);
      expect((await call('create_event', sent)).structuredContent.data.status).to.equal(401);
      expect((await call('delete_event', { id, dry_run: true }, 'subscriber')).isError).to.equal(true);
      expect((await call('delete_event', { id: 21, dry_run: true }, 'editor')).isError).to.equal(true);
      expect(cms().writes).to.have.length(before);
      // The key of a try belongs to no event.
      const created = await call('create_event', { ...EVENING, idempotency_key: 'key' }, 'editor');
      expect(created.structuredContent.title).to.equal('Evening');
    });
  });

  describe('hostile arguments', () => {
    const HOSTILE: [name: string, args: unknown][] = [
      ['search_events', { search: 'x'.repeat(201) }],
      ['search_events', { search: { $ne: 1 } }],
      ['search_events', { search: ['a', ['b']] }],
      ['search_events', { _method: 'DELETE' }],
      ['search_events', { _fields: 'id' }],
      ['search_events', { _jsonp: 'alert' }],
      ['search_events', { rest_route: '/x' }],
      ['search_events', { status: 'draft' }],
      ['search_events', { fields: 'author' }],
      ['search_events', { page: -1 }],
      ['search_events', { page: 1e300 }],
      ['search_events', { venue: [26] }],
      ['search_events', { categories: Array.from({ length: 1001 }, (_, n) => n + 1) }],
      // Longer than the headers of a request may be.
      ['search_events', { categories: Array.from({ length: 3000 }, (_, n) => n + 1) }],
      ['search_events', { tags: ['ä'.repeat(100_000)] }],
      ['search_events', { ['x'.repeat(100_000)]: 1 }],
      ['search_events', { geoloc_lat: 91, geoloc_lng: 0 }],
      ['search_events', { geoloc_lat: 1 }],
      ['get_event', {}],
      ['get_event', { id: 21 }],
      ['get_event', { id: 31 }],
      ['get_event', { id: -1 }],
      ['get_event', { id: 1.5 }],
      ['get_event', { id: 1e21 }],
      ['get_event', { id: '1/../../venues/21' }],
      ['get_event', { id: '1?_method=DELETE' }],
      ['get_event', { id: [1] }],
      ['get_event', { id: 1, password: 'x'.repeat(256) }],
      ['list_venues', { event: 21 }],
      ['create_event', { ...EVENING, title: 'x'.repeat(20_001) }],
      ['create_event', { ...EVENING, idempotency_key: 'a\r\nX-Evil: 1' }],
      ['create_event', { ...EVENING, idempotency_key: '' }],
      ['create_event', { ...EVENING, dry_run: 'no' }],
      ['create_event', { ...EVENING, venue: { venue: 'x'.repeat(20_001) } }],
      ['create_event', { ...EVENING, organizer: 21 }],
      ['create_event', { ...EVENING, image: 'http://127.0.0.1/' }],
      ['update_event', { id: 21, title: 'An event' }],
      ['cancel_event', { id: 26 }],
      ['cancel_event', { id: 2, event_status: 'scheduled' }],
      ['delete_event', { id: 21 }],
      ['delete_event', { id: 999, dry_run: true }],
    ];

    it('get errors of the tool, and change nothing', async () => {
      await startWriting();
      for (const [name, args] of HOSTILE) {
        const result = await call(name, args, 'editor');
        const title = `${name} ${JSON.stringify(args)}`.slice(0, 100);
        expect(result.isError, title).to.equal(true);
        expect(textOf(result).length, title).to.be.within(10, 2000);
      }
      expect(cms().writes).to.deep.equal([]);
      expect(gateway.observations.filter(({ type }) => type === 'request-failed')).to.deep.equal([]);
    });

    it('of inherited names reach nothing', async () => {
      await startWriting();
      const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
      for (const args of ['{"__proto__":{"id":1}}', '{"constructor":{"prototype":{"id":1}}}', '{"toString":1}']) {
        const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_event","arguments":${args}}}`;
        const response = await gateway.requestPath('/mcp', { body, headers });
        expect(response.body.result.isError, args).to.equal(true);
      }
      for (const name of ['__proto__', 'constructor', 'toString', '', 'x'.repeat(100_000)])
        expect((await call(name)).error.code, name.slice(0, 20)).to.equal(-32602);
      for (const args of ['text', 7, [1], true])
        expect((await call('get_event', args)).error, String(args)).to.be.an('object');
      expect(({} as Json).id).to.equal(undefined);
    });
  });
});
