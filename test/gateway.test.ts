// The composition root: which replica file a gateway may use.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MAX_UNPUBLISHED_DATABASES } from '../src/calendar/unpublished-records.ts';
import { loadConfig } from '../src/config.ts';
import { Gateway } from '../src/gateway.ts';
import { sendWebhook } from './cli/check/followed-advice.ts';
import { startFakePayload } from './cli/fake-payload.ts';
import { PERMISSIONS } from './cms/fake-cms.ts';
import { authorization, startEmptyWordPress } from './faults/fake-wordpress.ts';
import { freePorts } from './free-port.ts';
import { sendRequest } from './gateway/http-request.ts';
import { MOUNT } from './gateway/mount.ts';
import { until } from './until.ts';

describe('a gateway with a replica file', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'calendar-gateway-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  async function open(mapping: string): Promise<boolean> {
    const env = { CALENDAR_UPSTREAM_URL: 'https://cms.example', CALENDAR_MAPPING: mapping, CALENDAR_DATA_DIR: dir };
    await new Gateway(loadConfig({ env }), () => {}).stop();
    return existsSync(join(dir, 'calendar.sqlite.quarantined'));
  }

  it('quarantines the file if the mapping changed under the same name', async () => {
    const bundled = readFileSync('mappings/wordpress-meta.json', 'utf8');
    const mapping = join(dir, 'mine.json');
    const write = (title: string) => {
      const changed = JSON.parse(bundled) as { event: { fields: Record<string, unknown> } };
      changed.event.fields.title = title;
      writeFileSync(mapping, JSON.stringify(changed));
    };
    write('title');
    expect(await open(mapping)).to.equal(false);
    expect(await open(mapping)).to.equal(false);
    write('excerpt');
    expect(await open(mapping)).to.equal(true);
  });
});

describe('a webhook about an image of a Payload site whose images have another name', () => {
  it('brings the image into the events', async () => {
    const picture = {
      id: 1,
      url: '/a.png',
      filename: 'a.png',
      mimeType: 'image/png',
      updatedAt: '2033-01-01T00:00:00.000Z',
    };
    const gig = { id: 2, name: 'Gig', beginsAt: '2033-03-04T15:00:00.000Z', cover: 1, updatedAt: picture.updatedAt };
    const site = await startFakePayload({
      collections: {
        gigs: { fields: ['name', 'beginsAt', 'cover -> pictures'], docs: [{ ...gig, _status: 'published' }] },
        pictures: { fields: ['url', 'filename', 'mimeType'], docs: [picture], drafts: false, trash: false },
      },
    });
    const dir = mkdtempSync(join(tmpdir(), 'calendar-gateway-'));
    const mapping = join(dir, 'mapping.json');
    const as = { 'utc-datetime': 'Y-m-d\\TH:i:s.\\0\\0\\0\\Z' };
    const dates = { start_date: { at: 'beginsAt', as }, end_date: { at: 'beginsAt', as } };
    const event = { collection: 'gigs', fields: { title: 'name', ...dates, image: 'cover' } };
    writeFileSync(
      mapping,
      JSON.stringify({ name: 'gigs', upstream: 'payload', payload: { media: 'pictures' }, event }),
    );
    const [port, adminPort] = await freePorts();
    const env = {
      ...{ CALENDAR_UPSTREAM_URL: site.url, CALENDAR_MAPPING: mapping, CALENDAR_WEBHOOK_SECRET: 'shared by both' },
      ...{ CALENDAR_PORT: String(port), CALENDAR_ADMIN_PORT: String(adminPort), CALENDAR_SYNC_INTERVAL: '3600' },
    };
    let polls = 0;
    const gateway = new Gateway(loadConfig({ env }), ({ type }) => {
      if (type === 'sync-round') polls += 1;
    });
    try {
      await gateway.start();
      const imageOf = async () => {
        // A connection to an earlier server of this port may still be in the pool of `fetch`.
        const response = await fetch(`http://127.0.0.1:${port}/calendar/events/v1/events/2`).catch(() => undefined);
        return ((await response?.json()) as { image?: { url: string } } | undefined)?.image?.url;
      };
      await until(() => polls > 0, 'the initial sync');
      await until(async () => (await imageOf()) === `${site.url}/a.png`, 'the image');
      picture.url = '/b.png';
      await sendWebhook(adminPort, 'shared by both', ['pictures']);
      await until(async () => (await imageOf()) === `${site.url}/b.png`, 'the new image');
    } finally {
      await gateway.stop();
      await site.close();
      rmSync(dir, { recursive: true });
    }
  });
});

describe('after a reload', () => {
  it('as many accounts as before list their drafts', async () => {
    const editors = Array.from({ length: MAX_UNPUBLISHED_DATABASES }, (_, n) => `editor${n}`);
    const site = await startEmptyWordPress(Object.fromEntries(editors.map((name) => [name, () => PERMISSIONS.editor])));
    const [port, adminPort] = await freePorts();
    const config = loadConfig({
      env: {
        CALENDAR_UPSTREAM_URL: site.url.href,
        CALENDAR_PORT: String(port),
        CALENDAR_ADMIN_PORT: String(adminPort),
      },
    });
    const gateway = new Gateway(config, () => {});
    const statusesOfDrafts = () =>
      Promise.all(
        editors.map(async (name) => {
          const headers = { Authorization: authorization(name) };
          return (await sendRequest(port, `${MOUNT}/events?status=draft`, { headers })).status;
        }),
      );
    try {
      await gateway.start();
      await until(async () => (await sendRequest(adminPort, '/ready')).status === 200, 'the initial sync');
      const listed = editors.map(() => 200);
      expect(await statusesOfDrafts()).to.deep.equal(listed);
      await gateway.reload({ ...config, publicUrl: 'https://calendar.example.org' });
      expect(await statusesOfDrafts()).to.deep.equal(listed);
    } finally {
      await gateway.stop();
      await site.close();
    }
  });
});
