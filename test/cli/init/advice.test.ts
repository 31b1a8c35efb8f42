// What `init` advises helps: after the operator has followed it, `init` writes what it should.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseOptions } from '../../../src/cli/command-line.ts';
import { init } from '../../../src/cli/init/init.ts';
import { INIT_OPTIONS, parseInitOptions } from '../../../src/cli/init/options.ts';
import { ConfigError } from '../../../src/errors.ts';
import { type FakeOptions, type FakeSite, type FakeType, fakePost, startFakeSite } from '../fake-site.ts';

const LOGIN = { CALENDAR_UPSTREAM_USER: 'ada', CALENDAR_UPSTREAM_PASSWORD: 'aaaa bbbb' };

function type(base: string, meta: Record<string, string>, more: Partial<FakeType> = {}): FakeType {
  const keys = Object.fromEntries(Object.keys(meta).map((key) => [key, 'string']));
  const records = [1, 2].map((id) => fakePost(id, { title: `Record ${id}`, meta, ...more }));
  return { type: base, base, label: base, meta: keys, records, ...more };
}
const GIGS = type('gigs', { gig_start: '25/04/2031 19:30', gig_end: '25/04/2031 21:00' });
const UNDATED = type('event', {});
const AMBIGUOUS = type('gigs', { gig_start: '03/04/2031', gig_end: '04/04/2031' });
const SECONDS = type('gigs', { gig_start: '1935430200', gig_end: '1935435600' });

interface Scenario {
  /** The advice. */
  says: RegExp;
  types?: FakeType[];
  options?: Partial<FakeOptions>;
  /** Words of the command line, `URL` and `OUT` for the address and an empty folder. */
  args: string;
  env?: Record<string, string>;
  /** The command line after the advice. */
  follow: string;
  followEnv?: Record<string, string>;
  /** What the site has after the advice. */
  followTypes?: FakeType[];
  /** In the mapping or configuration that is then written. */
  writes: RegExp;
}

const SCENARIOS: readonly Scenario[] = [
  { says: /init https:/, args: '--yes', follow: 'URL --yes', writes: /gigs/ },
  {
    says: /Give both, or neither/,
    args: 'URL --yes',
    env: { CALENDAR_UPSTREAM_PASSWORD: 'aaaa bbbb' },
    follow: 'URL --yes --user ada',
    writes: /gigs/,
  },
  {
    says: /Give both, or neither: --user NAME, and --password-file FILE/,
    args: 'URL --yes --user ada',
    follow: 'URL --yes --user ada --password-file FILE',
    writes: /gigs/,
  },
  {
    says: /set this one in the environment yourself/,
    options: { logins: ['ada:a"b'] },
    args: 'URL --yes --user ada --password-file QUOTED',
    follow: 'URL --yes --user ada',
    followEnv: { CALENDAR_UPSTREAM_PASSWORD: 'a"b' },
    writes: /gigs/,
  },
  {
    says: /It has gigs\. Of a type/,
    args: 'URL --yes --event-type shows',
    follow: 'URL --yes --event-type gigs',
    writes: /gigs/,
  },
  { says: /Add --yes/, args: 'URL', follow: 'URL --yes', writes: /gigs/ },
  { says: /Name another folder with --out, or/, args: 'URL --yes --out FULL', follow: 'URL --yes', writes: /gigs/ },
  { says: /Name another folder with --out\./, args: 'URL --yes --out FILE', follow: 'URL --yes', writes: /gigs/ },
  {
    says: /Add --event-type event --field/,
    types: [UNDATED],
    args: 'URL --yes',
    follow: 'URL --yes --event-type event --field event.start_date=meta.begin --field event.end_date=meta.finish',
    writes: /"start_date": "meta\.begin"[\s\S]*"meta\.finish"[\s\S]*"begin": \{/,
  },
  {
    says: /switch on "Show in REST API"/,
    types: [UNDATED],
    args: 'URL --yes',
    follow: 'URL --yes',
    followTypes: [
      type(
        'event',
        {},
        {
          acf: { begin: 'string', finish: 'string' },
          records: [
            fakePost(1, { title: 'A', meta: {}, acf: { begin: '2031-04-25 19:30:00', finish: '2031-04-25 21:00:00' } }),
          ],
        },
      ),
    ],
    writes: /"acf\.begin"/,
  },
  {
    says: /add --mapping wordpress-meta/,
    types: [UNDATED],
    args: 'URL --yes',
    follow: 'URL --yes --mapping wordpress-meta',
    writes: /wordpress-meta/,
  },
  {
    says: /To serve events of another type/,
    types: [type('lesung', {})],
    options: { namespaces: ['my-calendar/v1'] },
    args: 'URL --yes',
    follow: 'URL --yes --event-type lesung --field event.start_date=meta.begin --field event.end_date=meta.finish',
    writes: /"posts": "lesung"/,
  },
  {
    says: /Make one in the CMS/,
    types: [{ ...GIGS, records: [] }],
    args: 'URL --yes',
    follow: 'URL --yes --force',
    followTypes: [GIGS],
    writes: /"d\/m\/Y H:i"/,
  },
  {
    says: /shows no dates of lesung/,
    types: [type('lesung', {})],
    args: 'URL --yes',
    follow:
      'URL --yes --force --event-type lesung --field event.start_date=meta.begin --field event.end_date=meta.finish',
    writes: /"posts": "lesung"[\s\S]*"meta\.begin"/,
  },
  {
    says: /Some event plugins show nothing/,
    types: [],
    args: 'URL --yes',
    follow: 'URL --yes --force --mapping event-organiser',
    writes: /event-organiser/,
  },
  {
    says: /Some event plugins show nothing/,
    types: [],
    options: { plugins: ['event-organiser'] },
    args: 'URL --yes',
    follow: 'URL --yes --force',
    followEnv: LOGIN,
    writes: /event-organiser/,
  },
  {
    says: /add --date-format 'm\/d\/Y' --force/,
    types: [AMBIGUOUS],
    args: 'URL --yes',
    follow: 'URL --yes --force --date-format m/d/Y',
    writes: /"m\/d\/Y/,
  },
  {
    says: /name it in the same way, and say its form: --date-format/,
    types: [type('gigs', { gig_start: 'KW15/14.04.2027' })],
    args: 'URL --yes --event-type gigs',
    follow: 'URL --yes --event-type gigs --field event.start_date=meta.gig_start --date-format \\K\\W15/d.m.Y',
    writes: /W15\/d\.m\.Y/,
  },
  {
    says: /add --seconds wall/,
    types: [SECONDS],
    args: 'URL --yes',
    follow: 'URL --yes --force --seconds wall',
    writes: /wall/,
  },
  {
    says: /add --event-type \(gigs, shows\)/,
    types: [GIGS, type('shows', { show_start: '25/04/2031 19:30', show_end: '25/04/2031 21:00' })],
    args: 'URL --yes',
    follow: 'URL --yes --force --event-type shows',
    writes: /"posts": "shows"/,
  },
];

describe('the advice of init', () => {
  let folder: string;
  let site: FakeSite;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-init-advice-'));
    writeFileSync(join(folder, 'password'), 'aaaa bbbb');
    writeFileSync(join(folder, 'quoted'), 'a"b');
    mkdirSync(join(folder, 'full'));
    writeFileSync(join(folder, 'full/config.json'), '{}');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** One run. Resolves with its output or its error, and its exit code. */
  async function run(line: string, env: Record<string, string>): Promise<{ code: number; text: string }> {
    const places: Record<string, string> = { URL: site.url, FILE: 'password', QUOTED: 'quoted', FULL: 'full' };
    const words = line
      .split(' ')
      .map((word) =>
        places[word] === undefined || word === 'URL' ? (places[word] ?? word) : join(folder, places[word]),
      );
    const out = words.includes('--out') ? [] : ['--out', join(folder, 'out')];
    const { values, positionals } = parseOptions([...words, ...out], INIT_OPTIONS, true);
    const lines: string[] = [];
    try {
      const code = await init(parseInitOptions(values, positionals, env), (each) => void lines.push(each));
      return { code, text: lines.join('\n') };
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      return { code: 2, text: (error as ConfigError).message };
    }
  }

  async function withSite<T>(types: FakeType[], options: Partial<FakeOptions>, use: () => Promise<T>): Promise<T> {
    site = await startFakeSite({ types: structuredClone(types), logins: ['ada:aaaa bbbb'], ...options });
    try {
      return await use();
    } finally {
      await site.close();
    }
  }

  for (const {
    says,
    types = [GIGS],
    options = {},
    args,
    env = {},
    follow,
    followEnv,
    followTypes,
    writes,
  } of SCENARIOS)
    it(`${says.source}: followed by ${follow}, init writes what it should`, async () => {
      const first = await withSite(types, options, () => run(args, env));
      expect(first.text.replace(/\s+/g, ' ')).to.match(says);
      const then = await withSite(followTypes ?? types, options, () => run(follow, followEnv ?? env));
      expect(then.code, then.text).to.equal(0);
      const files = ['config.json', 'mapping.json', 'calendar-gateway-companion.php'].map((name) =>
        join(folder, 'out', name),
      );
      expect(
        files
          .filter((file) => existsSync(file))
          .map((file) => readFileSync(file, 'utf8'))
          .join('\n'),
      ).to.match(writes);
    });
});
