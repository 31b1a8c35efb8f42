// The example plugin for Payload: which changes it reports, and that the gateway accepts its webhooks.
// test:payload runs it in a real Payload.

import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createAdmin } from '../../src/http/admin.ts';

interface Change {
  collection: string;
  id: number | string;
}
type Hook = (event: object) => Promise<unknown>;
interface Collection {
  slug: string;
  hooks?: { afterChange?: Hook[]; afterDelete?: Hook[] };
}
type CalendarGateway = (options: {
  webhookUrl: string;
  webhookSecret: string;
  collections?: string[];
}) => (config: { collections: Collection[] }) => { collections: Collection[] };

/** A variable, because the types of Payload that the file imports are not installed here. */
const FILE: string = '../../examples/payload/calendar-gateway.ts';
const SECRET = 'between-site-and-gateway';

describe('the example plugin for Payload', () => {
  let server: Server;
  let calendarGateway: CalendarGateway;
  let site: Site;
  const webhooks = new EventEmitter();

  before(async () => {
    ({ calendarGateway } = (await import(FILE)) as { calendarGateway: CalendarGateway });
    const admin = createAdmin({
      registry: { contentType: '', metrics: async () => '' },
      status: () => ({}),
      isComplete: () => true,
      isLive: () => true,
      isDraining: () => false,
      onWebhook: async (changes) => void webhooks.emit('accepted', changes),
      webhookSecret: SECRET,
    });
    server = createServer(admin).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    site = new Site();
  });

  /** What Payload gives its hooks. */
  class Site {
    readonly sessions: Record<string, object> = {};
    readonly warnings = new EventEmitter();
    readonly #payload = {
      db: { sessions: this.sessions },
      logger: { warn: ({ err }: { err: Error }) => this.warnings.emit('warn', err.message) },
    };
    #collections: Collection[] = [];

    install(collections: Collection[], options: { collections?: string[]; path?: string; secret?: string } = {}): void {
      const { path = '/-/changes', secret = SECRET, ...rest } = options;
      const webhookUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
      this.#collections = calendarGateway({ webhookUrl, webhookSecret: secret, ...rest })({ collections }).collections;
    }

    async #run(hook: 'afterChange' | 'afterDelete', slug: string, id: Change['id'], transactionID?: unknown) {
      const collection = this.#collections.find((each) => each.slug === slug);
      const event = { collection, id, doc: { id }, req: { payload: this.#payload, transactionID } };
      for (const each of collection?.hooks?.[hook] ?? []) await each(event);
    }
    change = (slug: string, id: Change['id'], transactionID?: unknown) =>
      this.#run('afterChange', slug, id, transactionID);
    delete = (slug: string, id: Change['id']) => this.#run('afterDelete', slug, id);
  }

  const nextWebhook = async (): Promise<Change[]> => (await once(webhooks, 'accepted'))[0] as Change[];

  it('reports changed and deleted records of its collections in one webhook, each once', async () => {
    site.install([{ slug: 'events' }, { slug: 'media' }, { slug: 'pages' }]);
    const webhook = nextWebhook();
    await site.change('pages', 9);
    await site.change('events', 1);
    await site.change('events', 1);
    await site.delete('events', 2);
    await site.change('media', 1);
    expect(await webhook).to.deep.equal([
      { collection: 'events', id: 1 },
      { collection: 'events', id: 2 },
      { collection: 'media', id: 1 },
    ]);
  });

  it('takes the collections from its options, and keeps the hooks that they have', async () => {
    const ran: string[] = [];
    const own = { afterChange: [async () => ran.push('changed')], afterDelete: [async () => ran.push('deleted')] };
    site.install([{ slug: 'events' }, { slug: 'gigs', hooks: own }], { collections: ['gigs'] });
    const webhook = nextWebhook();
    await site.change('events', 1);
    await site.change('gigs', 2);
    await site.delete('gigs', 3);
    expect(await webhook).to.deep.equal([
      { collection: 'gigs', id: 2 },
      { collection: 'gigs', id: 3 },
    ]);
    expect(ran).to.deep.equal(['changed', 'deleted']);
  });

  it('reports a change when its transaction has ended: before, the gateway would read the old record', async () => {
    site.install([{ slug: 'events' }]);
    site.sessions.open = {};
    const first = nextWebhook();
    await site.change('events', 1, Promise.resolve('open'));
    await site.change('events', 2, 'committed');
    expect(await first).to.deep.equal([{ collection: 'events', id: 2 }]);
    const second = nextWebhook();
    delete site.sessions.open;
    expect(await second).to.deep.equal([{ collection: 'events', id: 1 }]);
  });

  it('sends more than 500 changes as several webhooks', async () => {
    site.install([{ slug: 'events' }]);
    const received: Change[][] = [];
    const both = new Promise<void>((resolve) => {
      const listener = (changes: Change[]): void => {
        if (received.push(changes) < 2) return;
        webhooks.off('accepted', listener);
        resolve();
      };
      webhooks.on('accepted', listener);
    });
    for (let id = 1; id <= 501; id++) await site.change('events', id);
    await both;
    expect(received.map(({ length }) => length)).to.deep.equal([500, 1]);
  });

  it('logs a warning if the gateway refuses the webhook', async () => {
    site.install([{ slug: 'events' }], { secret: 'another secret' });
    const warning = once(site.warnings, 'warn');
    await site.change('events', 1);
    expect((await warning)[0]).to.equal('the gateway responded 401');
  });
});
