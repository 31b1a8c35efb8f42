// What the composition root alone decides.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../src/config.ts';
import { createGateway } from '../src/gateway.ts';

describe('a gateway with a copy on disk', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'calendar-gateway-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  async function open(mapping: string): Promise<boolean> {
    const env = { CALENDAR_UPSTREAM_URL: 'https://cms.example', CALENDAR_MAPPING: mapping, CALENDAR_DATA_DIR: dir };
    await createGateway(loadConfig({ env }), () => {}).stop();
    return existsSync(join(dir, 'calendar.sqlite.aside'));
  }

  it('sets it aside when the mapping says something else, though it is called the same', async () => {
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
