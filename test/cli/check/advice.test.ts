// Each row of advice that `check` can give: after the operator has followed it, the finding is gone.

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { check } from '../../../src/cli/check/check.ts';
import type { CheckContext } from '../../../src/cli/check/checks.ts';
import { SITE_CHECKS } from '../../../src/cli/check/site.ts';
import { ADVICE_IDS, type AdviceId, advise } from '../../../src/cli/check/wordpress/advice.ts';
import type { Row } from '../../../src/cli/table.ts';
import { sendJson } from '../../faults/stub-cms.ts';
import { freePort } from '../../free-port.ts';
import { startFakeSite } from '../fake-site.ts';
import { apply, normal, SCENARIOS, type Situation } from './advice-scenarios.ts';
import { WEBHOOK_SCENARIOS } from './webhook-scenarios.ts';

/** Those that need more than a site, in the tests below. */
const OWN_TESTS: readonly AdviceId[] = ['https', 'port-in-use'];

describe('the advice of check', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-advice-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function rowsOf(situation: Situation, adminPort: number): Promise<Row[]> {
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
        void sendWebhook(adminPort, webhookSecret, webhookCollections);
      }
      const refusal = refuses?.(request);
      if (refusal) sendJson(response, refusal[0], { code: refusal[1], message: 'No.', data: { status: refusal[0] } });
      return refusal !== undefined;
    };
    try {
      const events = { posts: 'gigs', fields, ...event };
      const files = {
        'mapping.json': { name: 'gigs', upstream: 'wordpress', event: events, ...mapping },
        'config.json': {
          upstream: { url: site.url, ...account },
          mapping: join(folder, 'mapping.json'),
          listen: { adminPort },
          ...config,
        },
      };
      for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
      let text = '';
      await check({ config: join(folder, 'config.json'), json: true, write }, (part) => {
        text += part;
      });
      return (JSON.parse(text) as { rows: Row[] }).rows;
    } finally {
      await site.close();
    }
  }

  for (const { id, advice, row, before, follow } of [...SCENARIOS, ...WEBHOOK_SCENARIOS])
    it(`${id}: followed, ${row} is right`, async () => {
      const situation = normal();
      const adminPort = await freePort();
      const find = (rows: readonly Row[]) => rows.find(({ area, name }) => `${area} ${name}` === row);
      apply(situation, before);
      const rows = await rowsOf(situation, adminPort);
      const expected = advice(join(folder, 'mapping.json'));
      expect(plain(find(rows)?.advice), JSON.stringify(rows)).to.equal(plain(expected));
      apply(situation, follow);
      const after = await rowsOf(situation, adminPort);
      expect(after.filter((each) => plain(each.advice) === plain(expected))).to.deep.equal([]);
      expect(find(after)?.state ?? 'ok', JSON.stringify(find(after))).to.equal('ok');
    });

  it('https: followed, the address is right', async () => {
    const address = SITE_CHECKS.find(({ name }) => name === 'address')!;
    const tryAddress = (url: string) =>
      address.run({
        config: { upstream: { user: 'ada' } },
        site: { name: 'Town' },
        cms: { advise },
        connection: { url },
      } as unknown as CheckContext);
    expect(await tryAddress('http://www.example.org')).to.include({ state: 'warn', advice: advise('https') });
    expect(await tryAddress('https://www.example.org')).to.include({ state: 'ok' });
  });

  it('port-in-use: followed, webhooks arrive', async () => {
    const adminPort = await freePort();
    // Answers the webhook, as a gateway does.
    const gateway = createServer((_request, response) => void response.end()).listen(adminPort, '127.0.0.1');
    await once(gateway, 'listening');
    const secret = 'shared between both';
    const situation: Situation = { ...normal(), write: true, config: { webhook: { secret } }, webhookSecret: secret };
    const webhooks = async () => (await rowsOf(situation, adminPort)).find(({ name }) => name === 'webhooks');
    expect(await webhooks()).to.include({ state: 'warn', advice: advise('port-in-use') });
    gateway.closeAllConnections();
    await new Promise((done) => gateway.close(done));
    expect(await webhooks()).to.include({ state: 'ok' });
  });

  it('has a test for each row', () => {
    const tested = new Set([...[...SCENARIOS, ...WEBHOOK_SCENARIOS].map(({ id }) => id), ...OWN_TESTS]);
    expect([...tested].sort()).to.deep.equal([...ADVICE_IDS].sort());
  });
});

/** Without what differs from run to run. */
const plain = (text = ''): string =>
  text.replace(/check [0-9a-f]{8}/, 'check TITLE').replace(/GATEWAY:\d+/, 'GATEWAY:PORT');

async function sendWebhook(port: number, secret: string, collections = 'gigs'): Promise<void> {
  const body = JSON.stringify({ changes: collections.split(' ').map((collection) => ({ collection, id: 1 })) });
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-calendar-signature': `t=${time},v1=${signature}` };
  await fetch(`http://127.0.0.1:${port}/-/changes`, { method: 'POST', headers, body }).catch(() => undefined);
}
