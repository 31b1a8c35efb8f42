// A tool gives each account exactly what the API gives it, and lets it write what the API lets it write: the whole
// gateway over sockets, with the official SDK's client.

import { expect } from 'chai';
import { READ_TOOLS } from '../../../src/http/mcp/tools.ts';
import { authorization, type FakeWordPress, startFakeWordPress, USERS } from '../../faults/fake-wordpress.ts';
import { type SocketGateway, startGateway } from '../../start-gateway.ts';
import { connect, type ToolClient } from './tools.ts';

const PROPERTIES = READ_TOOLS.find(({ name }) => name === 'search_events')!.values!.fields;
const ACCOUNTS = [undefined, ...USERS];

describe('the tools, for each role', () => {
  let wordpress: FakeWordPress;
  let gateway: SocketGateway;

  before(async () => {
    wordpress = await startFakeWordPress();
    gateway = await startGateway({ transport: 'socket', cmsUrl: wordpress.url.href, config: { mcp: 'write' } });
  });
  after(async () => {
    await gateway?.stop();
    await wordpress?.close();
  });

  const client = (account?: string): Promise<ToolClient> => connect(`http://127.0.0.1:${gateway.port}`, account);
  async function api(path: string, account?: string) {
    const headers: Record<string, string> = account === undefined ? {} : { authorization: authorization(account) };
    const { status, text } = await gateway.request(path, { headers });
    return { status, body: JSON.parse(text) };
  }

  it('list what the API lists', async () => {
    const counts = new Set<number>();
    for (const account of ACCOUNTS) {
      const tools = await client(account);
      const { json } = await tools.call('search_events', { per_page: 50 });
      const { body } = await api(`/events?start_date=today&per_page=50&fields=${PROPERTIES}`, account);
      expect(json.events, account).to.deep.equal(body.events);
      expect(json.total, account).to.equal(body.total);
      counts.add(body.total);
      for (const kind of ['venues', 'organizers', 'categories']) {
        const list = await tools.call(`list_${kind}`, { per_page: 50 });
        expect(list.json, `${account} ${kind}`).to.deep.equal((await api(`/${kind}?per_page=50`, account)).body);
      }
    }
    // Visitors, authors and editors see different events.
    expect(counts.size).to.be.greaterThan(2);
  });

  it('show of each record what the API shows, in the text too', async () => {
    for (const account of ACCOUNTS) {
      const tools = await client(account);
      for (const { id, base } of [...wordpress.posts.values()]) {
        if (base !== 'events' && id % 4 !== 0) continue;
        const { isError, json, text } = await tools.call('get_event', { id });
        const { status, body } = await api(`/events/${id}`, account);
        expect(isError, `${account} ${id}`).to.equal(status >= 400);
        expect(json, `${account} ${id}`).to.deep.equal(body);
        if (isError) expect(text).to.not.match(/-mark/);
        else expect(text).to.include(`Event ${id}: open-${id}-mark`.replace('open', body.title.split('-')[0]));
      }
    }
  });

  it('let each account write what the API lets it write', async () => {
    const times = { start_date: '2033-05-01 19:00', end_date: '2033-05-01 21:00' };
    for (const account of ACCOUNTS) {
      const tools = await client(account);
      const headers: Record<string, string> = account === undefined ? {} : { authorization: authorization(account) };
      const sent = { title: `By ${account}`, ...times };
      const { status, text } = await gateway.request('/events', {
        ...{ method: 'POST', body: JSON.stringify(sent) },
        headers: { ...headers, 'content-type': 'application/json' },
      });
      const byTool = await tools.call('create_event', sent);
      expect(byTool.isError, account).to.equal(status >= 400);
      const expected = JSON.parse(text);
      if (byTool.isError) expect(byTool.json, account).to.deep.equal(expected);
      else expect([byTool.json.status, byTool.json.title], account).to.deep.equal([expected.status, expected.title]);
      const may = ['author', 'editor', 'admin'].includes(account ?? '');
      // A public event of `author`.
      const { id } = [...wordpress.posts.values()].find(({ author, status }) => author === 3 && status === 'publish')!;
      for (const [name, args] of [
        ['update_event', { title: 'Other', dry_run: true }],
        ['update_event', { featured: true }],
        ['cancel_event', { dry_run: true }],
        ['delete_event', { dry_run: true }],
      ] as const)
        expect((await tools.call(name, { id, ...args })).isError, `${account} ${name}`).to.equal(!may);
    }
  });

  it('refuse wrong credentials as the API does', async () => {
    const headers = { authorization: `Basic ${Buffer.from('editor:wrong').toString('base64')}` };
    const reply = await gateway.request('/events', { headers });
    const tools = await connect(`http://127.0.0.1:${gateway.port}`, 'nobody');
    const { isError, json } = await tools.call('search_events');
    expect([reply.status, isError, json.data.status]).to.deep.equal([401, true, 401]);
  });
});
