// A real Payload behind the gateway: changes become visible by polling and by webhook, drafts stay private,
// and neither an outage of the site nor a crash of the gateway loses anything.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type PayloadIds, type PayloadRole, type PayloadSandbox, startPayload } from '../../sandbox/payload-site.ts';
import { freePort } from '../free-port.ts';
import { type GatewayProcess, MOUNT } from '../start-gateway.ts';
import { until } from '../until.ts';
import { type Answer, bundledMapping, send, startPayloadGateway, WEBHOOK_SECRET } from './payload-gateway.ts';

interface Event {
  id: number;
  title: string;
  status: string;
}
type Id = number | string;

const DATES = { startDate: '2033-03-04T15:00:00.000Z', endDate: '2033-03-04T17:00:00.000Z' };
const API_DATES = { start_date: '2033-03-04 10:00:00', end_date: '2033-03-04 12:00:00' };
const ON_THE_DAY = 'start_date=2033-03-04&end_date=2033-03-04&per_page=50';
const DAY_MS = 86_400_000;
/** Longer than a test may take: then only a webhook can have told the gateway of a change. */
const NO_POLL_S = 600;
const VISIBLE_WITHIN_MS = 15_000;

for (const ids of ['number', 'uuid'] as const satisfies readonly PayloadIds[])
  describe(`Payload with ids of the kind ${ids}`, () => {
    const dir = mkdtempSync(join(tmpdir(), 'calendar-payload-'));
    const dataDir = join(dir, 'gateway');
    let ports: { port: number; adminPort: number };
    let site: PayloadSandbox;
    let gateway: GatewayProcess;

    const startSite = (port = 0): Promise<PayloadSandbox> =>
      startPayload({
        ...{ dir: join(dir, 'site'), ids, port, quiet: true },
        webhook: { url: `http://127.0.0.1:${ports.adminPort}/-/changes`, secret: WEBHOOK_SECRET },
      });

    before(async () => {
      ports = { port: await freePort(), adminPort: await freePort() };
      site = await startSite();
      gateway = await startPayloadGateway(site, { intervalS: NO_POLL_S, dataDir, ports });
    });
    after(async () => {
      await gateway?.stop();
      await site?.stop();
      rmSync(dir, { recursive: true, force: true });
    });

    const inPayload = (path: string, method = 'GET', json?: object): Promise<Answer> =>
      send(site, `${site.url}/api/${path}`, { as: 'admin', method, json });
    const throughGateway = (path: string, as?: PayloadRole, method = 'GET', json?: object): Promise<Answer> =>
      send(site, `${gateway.url}${MOUNT}${path}`, { ...(as && { as }), method, json });
    const createInPayload = async (title: string, more: object = { _status: 'published' }): Promise<Id> => {
      const { status, body } = await inPayload('events', 'POST', { title, ...DATES, ...more });
      expect(status, JSON.stringify(body)).to.equal(201);
      return (body.doc as { id: Id }).id;
    };
    const listed = async (as?: PayloadRole): Promise<Event[]> => {
      const { status, body } = await throughGateway(`/events?${ON_THE_DAY}${as ? '&status=publish,draft' : ''}`, as);
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.events as Event[];
    };
    const titled = async (title: string, as?: PayloadRole): Promise<Event | undefined> =>
      (await listed(as)).find((event) => event.title === title);
    const untilListed = (title: string, isListed = true): Promise<void> =>
      until(
        async () => ((await titled(title)) !== undefined) === isListed,
        () => `${title} is ${isListed ? '' : 'not '}listed`,
        VISIBLE_WITHIN_MS,
      );

    it('shows a change made in Payload after its webhook: created, changed, unpublished, trashed, deleted', async () => {
      const id = await createInPayload('First title');
      await untilListed('First title');
      await inPayload(`events/${id}`, 'PATCH', { title: 'Second title' });
      await untilListed('Second title');
      await inPayload(`events/${id}`, 'PATCH', { _status: 'draft' });
      await untilListed('Second title', false);
      await inPayload(`events/${id}`, 'PATCH', { _status: 'published' });
      await untilListed('Second title');
      await inPayload(`events/${id}`, 'PATCH', { deletedAt: new Date().toISOString() });
      await untilListed('Second title', false);
      const other = await createInPayload('Deleted for good');
      await untilListed('Deleted for good');
      await inPayload(`events/${other}`, 'DELETE');
      await untilListed('Deleted for good', false);
    });

    it('shows a new name of a venue, and an event without its deleted venue', async () => {
      const { body } = await inPayload('venues', 'POST', { name: 'Old Fish Hall', _status: 'published' });
      const venue = (body.doc as { id: Id }).id;
      await createInPayload('In a hall', { venue, _status: 'published' });
      await untilListed('In a hall');
      const venueOf = async (title: string) => (await titled(title)) as unknown as { venue: { venue?: string } };
      expect((await venueOf('In a hall')).venue.venue).to.equal('Old Fish Hall');
      await inPayload(`venues/${venue}`, 'PATCH', { name: 'New Fish Hall' });
      await until(
        async () => (await venueOf('In a hall')).venue.venue === 'New Fish Hall',
        'the new name',
        VISIBLE_WITHIN_MS,
      );
      await inPayload(`venues/${venue}`, 'DELETE');
      await until(async () => (await venueOf('In a hall')).venue.venue === undefined, 'no venue', VISIBLE_WITHIN_MS);
    });

    it('lists a category that got another name in Payload as changed since then, and no other', async () => {
      const { body } = await inPayload('categories', 'POST', { name: 'Talks' });
      const category = (body.doc as { id: Id }).id;
      const changedSince = async (ms: number): Promise<string[]> => {
        const time = new Date(ms).toISOString();
        const { body } = await throughGateway(`/categories?hide_empty=false&per_page=50&modified_after=${time}`);
        return (body.categories as { name: string }[]).map(({ name }) => name);
      };
      await until(async () => (await changedSince(0)).includes('Talks'), 'the category', VISIBLE_WITHIN_MS);
      const noticedMs = Date.now();
      await until(() => Date.now() >= noticedMs + 1000, 'the next second', VISIBLE_WITHIN_MS);
      const sinceMs = Date.now();
      expect(await changedSince(sinceMs)).to.deep.equal([]);
      await inPayload(`categories/${category}`, 'PATCH', { name: 'Lectures' });
      await until(async () => (await changedSince(sinceMs)).includes('Lectures'), 'the new name', VISIBLE_WITHIN_MS);
      expect(await changedSince(sinceMs)).to.deep.equal(['Lectures']);
    });

    it('shows a draft to editors and its author, and to nobody else', async () => {
      const created = await throughGateway('/events', 'author', 'POST', {
        title: 'A draft',
        ...API_DATES,
        status: 'draft',
      });
      expect(created.status, JSON.stringify(created.body)).to.equal(201);
      const path = `/events/${created.body.id}`;
      const statuses: Record<string, number> = {};
      for (const role of ['subscriber', 'admin', 'editor', 'author'] as const)
        statuses[role] = (await throughGateway(path, role)).status;
      statuses.visitor = (await throughGateway(path)).status;
      expect(statuses).to.deep.equal({ admin: 200, editor: 200, author: 200, subscriber: 404, visitor: 404 });
      expect(await titled('A draft')).to.equal(undefined);
      expect(await titled('A draft', 'editor')).to.include({ status: 'draft' });
    });

    it('shows fields that only editors read to editors, in drafts only', async () => {
      const dataDir = join(dir, 'fields');
      const mapping = bundledMapping(site.url) as { event: object };
      const custom_fields = { note: 'internalNote', host: 'contact.name', phone: 'contact.phone' };
      const fields = await startPayloadGateway(site, {
        ...{ intervalS: 1, dataDir },
        mapping: { ...mapping, event: { ...mapping.event, custom_fields } },
      });
      try {
        const users = (await inPayload('users?where[role][equals]=author')).body.docs as { id: Id }[];
        const author = users[0]!.id;
        const secrets = { internalNote: 'only-for-editors', contact: { name: 'Ada', phone: '555-0100' } };
        await createInPayload('Fields of a published event', { ...secrets, author, _status: 'published' });
        await createInPayload('Fields of a draft', { ...secrets, author, _status: 'draft' });
        type Shown = Event & { custom_fields?: Record<string, { value: string }> };
        const get = async (path: string, as?: PayloadRole): Promise<Answer['body']> =>
          (await send(site, `${fields.url}${MOUNT}${path}`, as ? { as } : {})).body;
        const shownTo = async (title: string, as?: PayloadRole): Promise<(string[] | undefined)[]> => {
          const writes = as === 'author' || as === 'editor';
          const list = await get(`/events?${ON_THE_DAY}${writes ? '&status=publish,draft' : ''}`, as);
          const inList = (list.events as Shown[]).find((event) => event.title === title);
          const single = inList && ((await get(`/events/${inList.id}`, as)) as unknown as Shown);
          return [inList, single].map((event) => event && Object.keys(event.custom_fields ?? {}).sort());
        };
        const title = 'Fields of a published event';
        await until(async () => (await shownTo(title))[0] !== undefined, 'the published event', VISIBLE_WITHIN_MS);
        const [all, visitors, nothing] = [['host', 'note', 'phone'], ['host'], undefined];
        for (const as of [undefined, 'subscriber', 'author', 'editor'] as const)
          expect(await shownTo(title, as), `published, ${as}`).to.deep.equal([visitors, visitors]);
        expect(await shownTo('Fields of a draft', 'editor')).to.deep.equal([all, all]);
        expect(await shownTo('Fields of a draft', 'author')).to.deep.equal([visitors, visitors]);
        expect(await shownTo('Fields of a draft')).to.deep.equal([nothing, nothing]);
        for (const { parentPath, name } of readdirSync(dataDir, { withFileTypes: true, recursive: true }).filter(
          (entry) => entry.isFile(),
        ))
          expect(readFileSync(join(parentPath, name), 'latin1'), name).to.not.match(/only-for-editors|555-0100/);
      } finally {
        await fields.stop();
      }
    });

    it('is an ordinary record in Payload if it was created through the gateway', async () => {
      const { status, body } = await throughGateway('/events', 'editor', 'POST', {
        title: 'Seen in Payload',
        ...API_DATES,
      });
      expect(status, JSON.stringify(body)).to.equal(201);
      const { docs } = (await inPayload('events?where[title][equals]=Seen%20in%20Payload&depth=0')).body;
      expect((docs as object[])[0]).to.include({ ...DATES, _status: 'published', timeZone: 'America/New_York' });
      expect(await titled('Seen in Payload')).to.include({ id: body.id });
      expect((await throughGateway(`/events/${body.id}`, 'editor', 'DELETE')).status).to.equal(200);
      expect(await titled('Seen in Payload')).to.equal(undefined);
    });

    it('serves reads while the site is down, refuses writes, and catches up', async () => {
      const id = await createInPayload('Before the outage');
      await untilListed('Before the outage');
      const { port } = new URL(site.url);
      await site.stop();
      expect(await titled('Before the outage')).to.not.equal(undefined);
      const refused = await throughGateway('/events', 'editor', 'POST', { title: 'Refused', ...API_DATES });
      expect(refused.status, JSON.stringify(refused.body)).to.be.oneOf([502, 503, 504]);
      site = await startSite(Number(port));
      await inPayload(`events/${id}`, 'PATCH', { title: 'After the outage' });
      await untilListed('After the outage');
      expect(await titled('Refused')).to.equal(undefined);
    });

    it('equals the site after a crash of the gateway during changes', async () => {
      const own: Id[] = [];
      for (let run = 0; run < 3; run++) {
        own.push(await createInPayload(`Crash ${run}`));
        const changes = own.map((id, n) => inPayload(`events/${id}`, 'PATCH', { title: `Crash ${n} in run ${run}` }));
        await gateway.kill();
        await Promise.all(changes);
        gateway = await startPayloadGateway(site, { intervalS: 1, dataDir, ports });
      }
      const query =
        'events?where[_status][equals]=published&where[startDate][equals]=2033-03-04T15:00:00.000Z&limit=100&depth=0';
      const { docs } = (await inPayload(query)).body as { docs: { title: string }[] } & Answer['body'];
      const expected = docs.map(({ title }) => title).sort();
      expect(expected).to.include('Crash 2 in run 2');
      const titles = async () => (await listed()).map(({ title }) => title).sort();
      await until(async () => String(await titles()) === String(expected), 'the same events', VISIBLE_WITHIN_MS);
    });

    it('lists each occurrence of a series, and follows its changes', async () => {
      const as = { 'utc-datetime': 'Y-m-d\\TH:i:s.\\0\\0\\0\\Z' };
      const fields = {
        title: 'title',
        slug: 'slug',
        start_date: { at: 'startDate', as },
        end_date: { at: 'endDate', as },
      };
      const event = { collection: 'classes', readOnly: true, occurrences: { pastDays: 1, futureDays: 20 }, fields };
      const mapping = { name: 'classes', upstream: 'payload', event };
      const classes = await startPayloadGateway(site, { intervalS: 1, dataDir: join(dir, 'classes'), mapping });
      try {
        const tomorrow = Math.floor(Date.now() / DAY_MS + 1) * DAY_MS;
        const at = (days: number, hour: number) => new Date(tomorrow + days * DAY_MS + hour * 3_600_000).toISOString();
        const [startDate, endDate] = [at(0, 15), at(0, 17)];
        const yoga = { title: 'Yoga', slug: 'yoga', startDate, endDate, weeks: 5, _status: 'published' };
        const { status, body } = await inPayload('classes', 'POST', yoga);
        expect(status, JSON.stringify(body)).to.equal(201);
        await inPayload('classes', 'POST', { ...yoga, title: 'Once', slug: 'once', weeks: 1 });
        const occurrences = async (): Promise<{ id: number; slug: string; start_date: string }[]> =>
          (await send(site, `${classes.url}${MOUNT}/events?per_page=50`)).body.events as never;
        const starts = async (title: string): Promise<string[]> =>
          (await occurrences()).filter(({ slug }) => slug.startsWith(title)).map(({ start_date }) => start_date);
        const wall = (days: number): string => at(days, 15).slice(0, 19).replace('T', ' ');
        const untilStarts = (days: number[]): Promise<void> =>
          until(async () => String(await starts('yoga')) === String(days.map(wall)), 'occurrences', VISIBLE_WITHIN_MS);
        // The window ends before the fourth week.
        await untilStarts([0, 7, 14]);
        await until(async () => String(await starts('once')) === wall(0), 'the other event', VISIBLE_WITHIN_MS);
        for (const { id, slug, start_date } of await occurrences())
          expect((await send(site, `${classes.url}${MOUNT}/events/${id}`)).body).to.include({ slug, start_date });
        await inPayload(`classes/${(body.doc as { id: Id }).id}`, 'PATCH', { weeks: 2 });
        await untilStarts([0, 7]);
        await inPayload(`classes/${(body.doc as { id: Id }).id}`, 'DELETE');
        await untilStarts([]);
        expect(await starts('once')).to.deep.equal([wall(0)]);
      } finally {
        await classes.stop();
      }
    });
  });
