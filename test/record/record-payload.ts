// Records the contract of a CMS (test/cms/contract.ts) with a new Payload.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPayload } from '../../sandbox/payload-site.ts';
import { checkContract } from '../cms/contract.ts';
import { livePayload } from '../cms/implementations.ts';
import { PROMISES } from '../cms/promises.ts';
import { createRecorder } from './recorder.ts';

/** The name of the fixture. */
export const PAYLOAD_CONTRACT = 'contract-payload';

/** Writes `contract-payload.json` into the folder. Throws if a promise is broken, or if a key is in the recording. */
export async function recordPayload(folder: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-record-'));
  const site = await startPayload({ dir, port: 0 });
  try {
    const recorder = createRecorder(site.url);
    const { admin, subscriber } = site.credentials;
    const keys = { admin: admin.apiKey, subscriber: subscriber.apiKey };
    const results = await checkContract(livePayload(site.url, keys, recorder.dispatcher));
    await recorder.close();
    for (const [n, error] of results.entries()) if (error) throw new Error(`${PROMISES[n]!.name}: ${error.message}`);
    const text = `${JSON.stringify(recorder.recorded, null, 1)}\n`;
    for (const { apiKey, password } of Object.values(site.credentials))
      if (text.includes(apiKey) || text.includes(password)) throw new Error('the recording holds a key or a password');
    writeFileSync(join(folder, `${PAYLOAD_CONTRACT}.json`), text);
    process.stderr.write(`record: ${PAYLOAD_CONTRACT}: ${recorder.recorded.length} exchanges\n`);
  } finally {
    await site.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
