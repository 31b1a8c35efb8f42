// Real calendar programs: each imports a calendar file or subscribes to one, and lists the events that it then shows.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** An event as a program lists it, on a clock in `ZONE`. */
export interface Shown {
  title: string;
  /** `2027-03-12 19:00`; of an all-day event, its first day. */
  start: string;
  /** Of an all-day event, its last day. */
  end: string;
  cancelled?: boolean;
}

/** The zone of the person who looks: that of few events. */
export const ZONE = 'America/Los_Angeles';
/** Days to list: they hold all events of the tests. */
const [FROM, DAYS, TO] = ['2027-01-01', 400, '2028-02-05'];

const PACKAGES = 'calcurse khal vdirsyncer evolution-data-server dbus python3-gi gir1.2-ecal-2.0';
const FILES = ['/usr/bin/calcurse', '/usr/bin/khal', '/usr/bin/vdirsyncer', '/usr/bin/dbus-run-session'];
/** Debian's Python: another one on the path lacks the packages. */
const PYTHON = '/usr/bin/python3';
const ECAL = 'import gi; gi.require_version("ECal", "2.0"); from gi.repository import ECal';

const exec = promisify(execFile);

/** Before all checks of this folder. */
export async function mochaGlobalSetup(): Promise<void> {
  const lacks =
    FILES.some((file) => !existsSync(file)) ||
    (await exec(PYTHON, ['-c', ECAL]).then(
      () => false,
      () => true,
    ));
  if (lacks) throw new Error(`a calendar program is missing: apt-get install ${PACKAGES}`);
}

async function run(dir: string, command: string, args: readonly string[]): Promise<string> {
  const env = { PATH: '/usr/bin:/bin', HOME: dir, XDG_RUNTIME_DIR: dir, TZ: ZONE, LC_ALL: 'C.UTF-8' };
  const { stdout } = await exec(command, args, { cwd: dir, env, maxBuffer: 2 ** 24 });
  return stdout;
}

const SEPARATOR = '\t';
const linesOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.includes(SEPARATOR))
    .map((line) => line.split(SEPARATOR));

/** calcurse: imports a file. */
export async function calcurse(dir: string, file: string): Promise<Shown[]> {
  mkdirSync(dir);
  const data = ['-D', dir, '-C', dir];
  await run(dir, '/usr/bin/calcurse', [...data, '-q', '-i', file]);
  const time = (name: string) => `%(${name}:%Y-%m-%d %H:%M)`;
  // Before the query, which reads its dates with the format that it knows then.
  const query = ['--input-datefmt', '4', '--output-datefmt', '%F', '-Q', '--from', FROM, '--days', String(DAYS)];
  // An event of several days is one that recurs.
  const day = ['--format-event', '--format-recur-event'].flatMap((option) => [option, 'day\\t\\t%m\\n']);
  const formats = ['--format-apt', `${time('start')}\\t${time('end')}\\t%m\\n`, ...day];
  const listing = await run(dir, '/usr/bin/calcurse', [...data, ...query, ...formats]);
  return readCalcurse(listing);
}

/** Lists each day of an event; an all-day event has no date but that of the heading. */
function readCalcurse(listing: string): Shown[] {
  const shown = new Map<string, Shown>();
  let day = '';
  for (const line of listing.split('\n')) {
    const [start, end, title] = line.split(SEPARATOR);
    if (title === undefined) {
      day = /^(.+):$/.exec(line)?.[1] ?? day;
    } else if (start === 'day') {
      shown.set(title, { title, start: shown.get(title)?.start ?? day, end: day });
    } else {
      shown.set(title, { title, start: start!, end: end! });
    }
  }
  return [...shown.values()];
}

/** The calendar `files` in `dir`, a file for each event, which khal shows and vdirsyncer writes. */
function writeVdir(dir: string): { config: string; files: string } {
  const [files, config] = [join(dir, 'files'), join(dir, 'khal.conf')];
  mkdirSync(files, { recursive: true });
  writeFileSync(
    config,
    `[calendars]
[[town]]
path = ${files}
[locale]
local_timezone = ${ZONE}
default_timezone = ${ZONE}
dateformat = %Y-%m-%d
longdateformat = %Y-%m-%d
timeformat = %H:%M
datetimeformat = %Y-%m-%d %H:%M
longdatetimeformat = %Y-%m-%d %H:%M
[default]
default_calendar = town
[sqlite]
path = ${join(dir, 'khal.db')}
`,
  );
  return { config, files };
}

async function listWithKhal(dir: string, config: string): Promise<Shown[]> {
  const fields = ['title', 'start-long-full', 'end-long-full', 'all-day', 'status'].map((name) => `{${name}}`);
  const listed = ['list', '--once', '--day-format', '', '--format', fields.join(SEPARATOR), FROM, TO];
  return linesOf(await run(dir, '/usr/bin/khal', ['-c', config, ...listed])).map(
    ([title, start, end, allDay, status]) => {
      const length = allDay === 'True' ? 10 : 16;
      const times = { start: start!.slice(0, length), end: end!.slice(0, length) };
      return { title: title!, ...times, ...(status?.trim() === 'CANCELLED' ? { cancelled: true } : {}) };
    },
  );
}

/** khal: imports files, each into the calendar of the ones before. */
export async function khal(dir: string, ...imported: string[]): Promise<Shown[]> {
  const { config } = writeVdir(dir);
  for (const file of imported) await run(dir, '/usr/bin/khal', ['-c', config, 'import', '--batch', file]);
  return listWithKhal(dir, config);
}

/** vdirsyncer: subscribes to an address; each call of `list` asks it again. khal shows what it has. */
export function vdirsyncer(dir: string, url: string): { list(): Promise<Shown[]> } {
  const { config, files } = writeVdir(dir);
  const synced = join(dir, 'vdirsyncer.conf');
  writeFileSync(
    synced,
    `[general]
status_path = "${join(dir, 'status')}"
[pair town]
a = "web"
b = "files"
collections = null
conflict_resolution = "a wins"
[storage web]
type = "http"
url = "${url}"
[storage files]
type = "filesystem"
path = "${files}"
fileext = ".ics"
`,
  );
  return {
    async list() {
      for (const command of ['discover', 'sync']) await run(dir, '/usr/bin/vdirsyncer', ['-c', synced, command]);
      return listWithKhal(dir, config);
    },
  };
}

/** Evolution Data Server, which GNOME Calendar and Evolution show: subscribes to an address. */
export async function evolutionDataServer(dir: string, url: string): Promise<Shown[]> {
  const { hostname, port, pathname, search } = new URL(url);
  const sources = join(dir, '.config/evolution/sources');
  mkdirSync(sources, { recursive: true, mode: 0o700 });
  writeFileSync(
    join(sources, 'town.source'),
    `[Data Source]
DisplayName=Town
Enabled=true
Parent=webcal-stub
[Calendar]
BackendName=webcal
[Authentication]
Host=${hostname}
Port=${port}
Method=none
[Security]
Method=none
[WebDAV Backend]
ResourcePath=${pathname}
ResourceQuery=${search.slice(1)}
`,
  );
  const script = join(import.meta.dirname, 'evolution.py');
  const listing = await run(dir, '/usr/bin/dbus-run-session', ['--', PYTHON, script, 'town', ZONE]);
  return linesOf(listing).map(([title, start, end]) => ({ title: title!, start: start!, end: end! }));
}
