// The composition root: which replica file a gateway may use.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../src/config.ts';
import { createGateway } from '../src/gateway.ts';

describe('a gateway with a replica file', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'calendar-gateway-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  async function open(mapping: string): Promise<boolean> {
    const env = { CALENDAR_UPSTREAM_URL: 'https://cms.example', CALENDAR_MAPPING: mapping, CALENDAR_DATA_DIR: dir };
    await createGateway(loadConfig({ env }), () => {}).stop();
    return existsSync(join(dir, 'calendar.sqlite.quarantined'));
  }

  it('quarantines the file if the mapping changed under the same name', async () => {
    const shipped = readFileSync('mappings/wordpress-meta.json', 'utf8');
    const mapping = join(dir, 'mine.json');
    const write = (title: string) => {
      const changed = JSON.parse(shipped) as { event: { fields: Record<string, unknown> } };
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
