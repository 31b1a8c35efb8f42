// What `check` advises helps: after the operator has followed it, the finding is gone.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import type { CheckRow } from '../../../src/cli/check/checks.ts';
import { sendJson } from '../../faults/stub-cms.ts';
import { freePort } from '../../free-port.ts';
import { startFakeSite } from '../fake-site.ts';
import { normal, SCENARIOS, type Situation } from './advice-scenarios.ts';
import { apply, checkedFolder, expectFollowed, sendWebhook } from './followed-advice.ts';

describe('the advice of check', () => {
  const folder = checkedFolder();

  async function rowsOf(situation: Situation, adminPort: number): Promise<CheckRow[]> {
    const {
      gigs,
      options,
      fields,
      event,
      mapping,
      account,
      config,
      write,
      refuses,
      webhookSecret,
      webhookCollections,
    } = situation;
    const site = await startFakeSite({ types: [gigs], logins: ['service:right'], ...options });
    site.before = (request, response) => {
      if (request.method === 'DELETE' && webhookSecret !== undefined) {
        void sendWebhook(adminPort, webhookSecret, (webhookCollections ?? 'gigs').split(' '));
      }
      const refusal = refuses?.(request);
      if (refusal) sendJson(response, refusal[0], { code: refusal[1], message: 'No.', data: { status: refusal[0] } });
      return refusal !== undefined;
    };
    try {
      const events = { posts: 'gigs', fields, ...event };
      return await folder.check({
        mapping: { name: 'gigs', upstream: 'wordpress', event: events, ...mapping },
        config: { upstream: { url: site.url, ...account }, listen: { adminPort }, ...config },
        write,
      });
    } finally {
      await site.close();
    }
  }

  for (const { says, row, before, follow } of SCENARIOS)
    it(`${says.source}: followed, ${row} is right`, async () => {
      const situation = normal();
      const adminPort = await freePort();
      apply(situation, before);
      await expectFollowed(row, says, await rowsOf(situation, adminPort), () => {
        apply(situation, follow);
        return rowsOf(situation, adminPort);
      });
    });

  it('port-in-use: followed, webhooks arrive', async () => {
    const adminPort = await freePort();
    // Answers the webhook, as a gateway does.
    const gateway = createServer((_request, response) => void response.end()).listen(adminPort, '127.0.0.1');
    await once(gateway, 'listening');
    const secret = 'shared between both';
    const situation: Situation = { ...normal(), write: true, config: { webhook: { secret } }, webhookSecret: secret };
    const webhooks = async () => (await rowsOf(situation, adminPort)).find(({ name }) => name === 'webhooks');
    expect(await webhooks()).to.include({
      state: 'warn',
      advice: 'Stop the gateway while check --write runs, or look at its log while you change an event.',
    });
    gateway.closeAllConnections();
    await new Promise((done) => gateway.close(done));
    expect(await webhooks()).to.include({ state: 'ok' });
  });

  it('variables: followed, none is ignored', async () => {
    const settings = async () => (await rowsOf(normal(), await freePort())).filter(({ area }) => area === 'settings');
    process.env.CALENDAR_PROT = '3000';
    try {
      expect((await settings())[0]).to.include({ state: 'warn', name: 'variables' });
    } finally {
      delete process.env.CALENDAR_PROT;
    }
    expect(await settings()).to.deep.equal([]);
  });
});
