// Each row of advice that `init` can give: what it says helps.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseOptions } from '../../../src/cli/commands.ts';
import { advise, INIT_ADVICE_IDS, type InitAdviceId } from '../../../src/cli/init/advice.ts';
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
const AMBIGUOUS = type('gigs', { gig_start: '03/04/2031 19:30', gig_end: '03/04/2031 21:00' });
const SECONDS = type('gigs', { gig_start: '1935430200', gig_end: '1935435600' });

interface Scenario {
  id: InitAdviceId;
  facts?: readonly string[];
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
  { id: 'give-address', args: '--yes', follow: 'URL --yes', writes: /gigs/ },
  {
    id: 'give-user',
    args: 'URL --yes',
    env: { CALENDAR_UPSTREAM_PASSWORD: 'aaaa bbbb' },
    follow: 'URL --yes --user ada',
    writes: /gigs/,
  },
  {
    id: 'give-password',
    args: 'URL --yes --user ada',
    follow: 'URL --yes --user ada --password-file FILE',
    writes: /gigs/,
  },
  {
    id: 'secret-in-environment',
    options: { logins: ['ada:a"b'] },
    args: 'URL --yes --user ada --password-file QUOTED',
    follow: 'URL --yes --user ada',
    followEnv: { CALENDAR_UPSTREAM_PASSWORD: 'a"b' },
    writes: /gigs/,
  },
  {
    id: 'event-type',
    facts: ['gigs'],
    args: 'URL --yes --event-type shows',
    follow: 'URL --yes --event-type gigs',
    writes: /gigs/,
  },
  { id: 'accept', args: 'URL', follow: 'URL --yes', writes: /gigs/ },
  { id: 'other-folder', args: 'URL --yes --out FULL', follow: 'URL --yes', writes: /gigs/ },
  { id: 'writable-folder', args: 'URL --yes --out FILE', follow: 'URL --yes', writes: /gigs/ },
  {
    id: 'name-dates',
    facts: ['event'],
    types: [UNDATED],
    args: 'URL --yes',
    follow: 'URL --yes --event-type event --field event.start_date=meta.begin --field event.end_date=meta.finish',
    writes: /"start_date": "meta\.begin"[\s\S]*"meta\.finish"[\s\S]*'begin' =>/,
  },
  {
    id: 'show-acf',
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
    id: 'own-types',
    types: [UNDATED],
    args: 'URL --yes',
    follow: 'URL --yes --mapping wordpress-meta',
    writes: /wordpress-meta/,
  },
  {
    id: 'other-events',
    types: [UNDATED],
    options: { namespaces: ['my-calendar/v1'] },
    args: 'URL --yes',
    follow: 'URL --yes --event-type event --field event.start_date=meta.begin --field event.end_date=meta.finish',
    writes: /"posts": "event"/,
  },
  {
    id: 'no-event',
    types: [{ ...GIGS, records: [] }],
    args: 'URL --yes',
    follow: 'URL --yes --force',
    followTypes: [GIGS],
    writes: /"d\/m\/Y H:i"/,
  },
  {
    id: 'undated-types',
    facts: ['lesung'],
    types: [type('lesung', {})],
    args: 'URL --yes',
    follow:
      'URL --yes --force --event-type lesung --field event.start_date=meta.begin --field event.end_date=meta.finish',
    writes: /"posts": "lesung"[\s\S]*"meta\.begin"/,
  },
  {
    id: 'hidden-plugins',
    types: [],
    args: 'URL --yes',
    follow: 'URL --yes --force --mapping event-organiser',
    writes: /event-organiser/,
  },
  {
    id: 'hidden-plugins',
    types: [],
    options: { plugins: ['event-organiser'] },
    args: 'URL --yes',
    follow: 'URL --yes --force',
    followEnv: LOGIN,
    writes: /event-organiser/,
  },
  {
    id: 'event-plugins',
    facts: ['town-events'],
    types: [],
    options: { plugins: ['akismet', 'town-events'] },
    args: 'URL --yes',
    env: LOGIN,
    follow: 'URL --yes --force',
    followTypes: [GIGS],
    writes: /gigs/,
  },
  {
    id: 'event-plugins',
    facts: ['town-events'],
    types: [type('posts', {})],
    options: { plugins: ['town-events'] },
    args: 'URL --yes',
    env: LOGIN,
    follow: 'URL --yes --force --event-type posts --field event.start_date=meta.begin',
    writes: /"posts": "posts"[\s\S]*"meta\.begin"/,
  },
  {
    id: 'date-order',
    types: [AMBIGUOUS],
    args: 'URL --yes',
    follow: 'URL --yes --force --date-order mdy',
    writes: /"m\/d\/Y/,
  },
  {
    id: 'date-format',
    facts: ['gigs', 'meta.gig_start'],
    types: [type('gigs', { gig_start: 'KW15/14.04.2027' })],
    args: 'URL --yes --event-type gigs',
    follow: 'URL --yes --event-type gigs --field event.start_date=meta.gig_start --date-format \\K\\W15/d.m.Y',
    writes: /W15\/d\.m\.Y/,
  },
  { id: 'seconds', types: [SECONDS], args: 'URL --yes', follow: 'URL --yes --force --seconds wall', writes: /wall/ },
  {
    id: 'events-among',
    facts: ['gigs', 'shows'],
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

  /** One run without a terminal to ask at. Resolves with its output or its error, and its exit code. */
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
      const code = await init(parseInitOptions(values, positionals, env), { print: (each) => void lines.push(each) });
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
    id,
    facts = [],
    types = [GIGS],
    options = {},
    args,
    env = {},
    follow,
    followEnv,
    followTypes,
    writes,
  } of SCENARIOS)
    it(`${id}: followed by ${follow}, init writes what it should`, async () => {
      const text = (advise as (id: InitAdviceId, facts: unknown) => string)(id, id === 'name-dates' ? facts[0] : facts);
      const first = await withSite(types, options, () => run(args, env));
      expect(first.text.replace(/\s+/g, ' ')).to.include(text.replace(/\s+/g, ' '));
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

  it('of a type that is not in the REST API names the section that shows the argument of register_post_type', () => {
    const reference = /(docs\/[\w-]+\.md)[^"]+"([^"]+)"/;
    const [, document = '', title = ''] = reference.exec(advise('event-type', ['gigs'])) ?? [];
    expect(reference.exec(advise('event-plugins', ['town-events']))?.slice(1)).to.deep.equal([document, title]);
    const text = readFileSync(new URL(`../../../${document}`, import.meta.url), 'utf8');
    expect(text.split(`\n## ${title}\n`)[1]?.split('\n## ')[0]).to.include("'show_in_rest' => true");
  });

  it('has a test for each row', () => {
    expect([...new Set(SCENARIOS.map(({ id }) => id))].sort()).to.deep.equal([...INIT_ADVICE_IDS].sort());
  });
});
