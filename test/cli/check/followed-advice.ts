// What the tests of the advice of `check` share: a run on files, webhooks of the site, and the judgement
// whether an advice helps.

import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { check } from '../../../src/cli/check/check.ts';
import type { CheckRow } from '../../../src/cli/check/checks.ts';
import { ConfigError } from '../../../src/errors.ts';
import { partsOf } from '../../config-fixture.ts';

/** A folder for each test of the suite. */
export function checkedFolder() {
  const folder = {
    path: '',
    /** Writes `mapping.json` and `config.json`, and runs `check` on them. An error that ends it is one row. */
    async check({ mapping, config, write }: { mapping: object; config: object; write: boolean }): Promise<CheckRow[]> {
      const file = (name: string) => join(folder.path, name);
      writeFileSync(file('mapping.json'), JSON.stringify(mapping));
      writeFileSync(file('config.json'), JSON.stringify({ mapping: file('mapping.json'), ...config }));
      let text = '';
      const print = (part: string) => {
        text += part;
      };
      try {
        await check({ config: file('config.json'), json: true, write }, print, () => Promise.all(sent));
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        return [{ area: 'the', name: 'command', state: 'fail', message: error.message, advice: partsOf(error).remedy }];
      }
      return (JSON.parse(text) as { rows: CheckRow[] }).rows;
    },
  };
  beforeEach(() => {
    folder.path = mkdtempSync(join(tmpdir(), 'calendar-advice-'));
  });
  afterEach(() => rmSync(folder.path, { recursive: true, force: true }));
  return folder;
}

/** Changes a situation: of an object only the parts that the change has. */
export function apply<S extends object>(situation: S, change: { [K in keyof S]?: unknown }): void {
  for (const [key, value] of Object.entries(change)) {
    const isPart = typeof value === 'object';
    Object.assign(situation, { [key]: isPart ? { ...Reflect.get(situation, key), ...value } : value });
  }
}

/**
 * The row has the advice, and after it was followed no row has it and this row is right.
 * @param name `area name` of the row
 */
export async function expectFollowed(
  name: string,
  says: RegExp,
  rows: readonly CheckRow[],
  rowsAfter: () => Promise<CheckRow[]>,
): Promise<void> {
  const find = (all: readonly CheckRow[]) => all.find((row) => `${row.area} ${row.name}` === name);
  const advice = find(rows)?.advice;
  expect(advice, JSON.stringify(rows)).to.match(says);
  const after = await rowsAfter();
  expect(after.filter((each) => each.advice === advice)).to.deep.equal([]);
  expect(find(after)?.state ?? 'ok', JSON.stringify(find(after))).to.equal('ok');
}

/** Webhooks that have not been answered yet. */
const sent = new Set<Promise<void>>();

/** As the site sends it. Nobody may listen. `check` looks for it again as soon as it has been answered. */
export function sendWebhook(port: number, secret: string, collections: readonly string[]): Promise<void> {
  const answered = postWebhook(port, secret, collections).finally(() => sent.delete(answered));
  sent.add(answered);
  return answered;
}

async function postWebhook(port: number, secret: string, collections: readonly string[]): Promise<void> {
  const body = JSON.stringify({ changes: collections.map((collection) => ({ collection, id: 1 })) });
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-calendar-signature': `t=${time},v1=${signature}` };
  await fetch(`http://127.0.0.1:${port}/-/changes`, { method: 'POST', headers, body }).catch(() => undefined);
}
