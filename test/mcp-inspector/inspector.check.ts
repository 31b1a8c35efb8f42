// The command line of the public inspector lists and calls every tool.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startTown, type Town } from '../openapi/town.ts';
import { MOUNT } from '../start-gateway.ts';

const INSPECTOR = join(import.meta.dirname, 'node_modules/.bin/mcp-inspector');
const EVENING = ['title=Evening', 'start_date=2027-05-01 19:00', 'end_date=2027-05-01 21:00'];

describe('the inspector', () => {
  let town: Town;
  before(async () => {
    town = await startTown({ mcp: 'write' });
  });
  after(() => town.gateway.stop());

  async function inspect(...args: string[]) {
    const login = ['--header', `Authorization: ${town.authorization}`];
    const all = ['--cli', `${town.url.replace(MOUNT, '')}/mcp`, '--transport', 'http', ...login, ...args];
    const { stdout } = await promisify(execFile)(process.execPath, [INSPECTOR, ...all]);
    return JSON.parse(stdout);
  }
  const call = (name: string, ...args: string[]) =>
    inspect('--method', 'tools/call', '--tool-name', name, ...args.flatMap((arg) => ['--tool-arg', arg]));

  it('lists and calls every tool', async () => {
    const { tools } = await inspect('--method', 'tools/list');
    const called: Record<string, string> = {};
    let id = 0;
    for (const [name, ...args] of [
      ['search_events', 'search=Concert 3', 'start_date=2027-01-01'],
      ['get_event', 'id=101'],
      ['list_venues', 'per_page=1'],
      ['list_organizers'],
      ['list_categories', 'hide_empty=false'],
      ['create_event', ...EVENING],
      ['update_event', 'title=Late'],
      ['cancel_event', 'event_status_reason=Storm'],
      ['delete_event'],
    ] as [string, ...string[]][]) {
      const ofCreated = ['update_event', 'cancel_event', 'delete_event'].includes(name) ? [`id=${id}`] : [];
      const { isError, content, structuredContent } = await call(name, ...args, ...ofCreated);
      expect(isError ?? false, `${name}: ${content[0].text}`).to.equal(false);
      id = structuredContent.id ?? id;
      called[name] = content[0].text;
    }
    expect(Object.keys(called)).to.deep.equal(tools.map((tool: { name: string }) => tool.name));
    expect(called.get_event).to.include('Event 101: Concert 1\n2027-01-01 19:00 to 21:00 (');
    expect(called.cancel_event).to.include('Cancelled: Late');
  });
});
