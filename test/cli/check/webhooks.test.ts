// Whether webhooks arrive for each kind while `check --write` writes.

import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { CmsWords } from '../../../src/cli/check/checks.ts';
import { listenForWebhooks } from '../../../src/cli/check/webhooks.ts';
import { loadConfig } from '../../../src/config.ts';
import type { Kind } from '../../../src/model/records.ts';
import { freePort } from '../../free-port.ts';

const words = { admin: 'wp-admin', plugin: () => 'Make it.' } as unknown as CmsWords;

describe('check of webhooks', () => {
  const listen = async (secret: string, written: Record<string, Kind> = { gigs: 'event' }) => {
    const env = { CALENDAR_UPSTREAM_URL: 'http://site.example', CALENDAR_WEBHOOK_SECRET: 'shared between both' };
    const config = loadConfig({ env });
    const port = await freePort();
    const webhooks = await listenForWebhooks({ ...config, listen: { ...config.listen, adminPort: port } }, words, {
      pluginOptions: '',
      // The webhook below has arrived before the listener is asked.
      wait: async () => {},
    });
    for (const [collection, kind] of Object.entries(written)) webhooks?.wrote(kind, collection);
    const body = JSON.stringify({ changes: [{ collection: 'gigs', id: 1 }] });
    const time = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
    await fetch(`http://127.0.0.1:${port}/-/changes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-calendar-signature': `t=${time},v1=${signature}` },
      body,
    });
    const finding = await webhooks?.finding();
    webhooks?.close();
    return finding;
  };

  it('passes for a webhook with a valid signature', async () => {
    const finding = await listen('shared between both');
    expect(finding, JSON.stringify(finding)).to.include({ state: 'ok' });
  });

  it('fails for a kind whose webhook does not arrive', async () => {
    const finding = await listen('shared between both', { gigs: 'event', halls: 'venue' });
    expect(finding).to.include({ state: 'fail' });
    expect(finding?.message).to.include('arrived for event, and none for venue (halls)');
  });

  it('are not tried if nothing was written', async () => {
    const finding = await listen('shared between both', {});
    expect(finding).to.include({ state: 'warn' });
    expect(finding?.message).to.include('not tried');
  });

  it('fails for a webhook with a wrong signature', async () => {
    const finding = await listen('another');
    expect(finding).to.include({ state: 'fail' });
    expect(finding?.advice).to.include('CALENDAR_WEBHOOK_SECRET');
  });
});
