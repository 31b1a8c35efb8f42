// The documents agree with the project: links, anchors, commands, settings, metrics and JSON in all of them.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import packageJson from '../package.json' with { type: 'json' };
import { commands } from '../src/cli/commands.ts';
import { CONFIG_FILE_VARIABLE, loadConfig, SETTINGS } from '../src/config.ts';
import { compileMapping } from '../src/mapping/compile.ts';
import { createMetrics } from '../src/observability/metrics.ts';

const ROOT = join(import.meta.dirname, '..');
/** Does not enter the packages of examples, which link back to the project. */
const markdownIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : markdownIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
const DOCUMENTS = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'examples', '.github'].flatMap(markdownIn),
  'sandbox/README.md',
];
/** Files with commands or settings for operators. */
const DEPLOYMENT = readdirSync(join(ROOT, 'deploy'))
  .filter((name) => /\.(ya?ml|service|conf|json)$|^Dockerfile$/.test(name))
  .map((name) => `deploy/${name}`);

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const FENCE = /^( *)```([^\n]*)\n([\s\S]*?)^\1```$/gm;
const withoutFences = (text: string): string => text.replace(FENCE, '');

/** The code blocks whose info string begins with one of these words. */
function blocks(text: string, ...words: string[]): { info: string; code: string }[] {
  return [...text.matchAll(FENCE)]
    .map(([, , info = '', code = '']) => ({ info, code }))
    .filter(({ info }) => words.includes(info.split(' ')[0]!));
}

/** The anchors that GitHub gives the headings of a document. */
function anchorsOf(file: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = [...withoutFences(read(file)).matchAll(/^#{1,6} +(.*)$/gm)].map(([, heading = '']) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  });
  return new Set(headings);
}

/** What is wrong with a link of a document to this repository; undefined if nothing is. */
function linkProblem(file: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#');
  const linked = path === '' ? file : relative(ROOT, resolve(ROOT, dirname(file), decodeURIComponent(path)));
  if (!existsSync(join(ROOT, linked))) return `${file}: ${target}: there is no such file`;
  if (anchor === undefined) return undefined;
  const isDocument = linked.endsWith('.md') && statSync(join(ROOT, linked)).isFile();
  return isDocument && anchorsOf(linked).has(anchor) ? undefined : `${file}: ${target}: there is no such heading`;
}

/** The value of a JSON block, which may be a part of an object: `"listen": { ... }`. */
function parseBlock(code: string): unknown {
  return JSON.parse(/^\s*"/.test(code) ? `{${code}}` : code);
}

/** What an example may leave out. */
const UPSTREAM = {
  CALENDAR_UPSTREAM_URL: 'https://www.example.org',
  CALENDAR_UPSTREAM_USER: 'calendar',
  CALENDAR_UPSTREAM_PASSWORD: 'a secret',
};
/** Not settings of the gateway; docs/configuration.md names the last one as ignored. */
const OTHER_VARIABLES = [CONFIG_FILE_VARIABLE, 'CALENDAR_SANDBOX_CACHE', 'CALENDAR_SERVICE_HOST'];

describe('the documents', () => {
  it('link to files and headings that exist', () => {
    const problems = DOCUMENTS.flatMap((file) => {
      const text = withoutFences(read(file)).replace(/`[^`\n]*`/g, '');
      return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^(https?|mailto):/.test(target))
        .flatMap((target) => linkProblem(file, target) ?? []);
    });
    expect(problems).to.deep.equal([]);
  });

  it('are all reachable from the README', () => {
    const reached = new Set(['README.md']);
    for (const file of reached) {
      for (const [, path = ''] of read(file).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
        const linked = relative(ROOT, resolve(ROOT, dirname(file), path));
        if (DOCUMENTS.includes(linked)) reached.add(linked);
        for (const each of DOCUMENTS) if (dirname(each) === linked.replace(/\/$/, '')) reached.add(each);
      }
    }
    const unreachable = DOCUMENTS.filter((file) => !reached.has(file) && !file.startsWith('.github/'));
    expect(unreachable).to.deep.equal([]);
  });

  it('name npm scripts that exist', () => {
    const missing = [...DOCUMENTS, ...DEPLOYMENT].flatMap((file) =>
      [...read(file).matchAll(/\bnpm run (?:--silent )?([a-z][\w:]*)/g)]
        .map(([, script]) => script!)
        .filter((script) => !Object.hasOwn(packageJson.scripts, script))
        .map((script) => `${file}: npm run ${script}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('show commands of the gateway that exist, with options that they have', () => {
    const found: string[] = [];
    const wrong: string[] = [];
    for (const file of [...DOCUMENTS, ...DEPLOYMENT]) {
      const lines = read(file).replaceAll('\\\n', ' ');
      // Also after `docker run ... calendar-gateway`, and as `npm run --silent cli --`.
      for (const [, name = '', rest = ''] of lines.matchAll(
        /(?:\bcalendar-gateway|\bcli --|dist\/main\.js) ((?!calendar)[a-z]+)((?: [^\n`|>#]*)?)/g,
      )) {
        const command = commands[name];
        if (!command) continue;
        found.push(name);
        for (const [option] of rest.matchAll(/--[a-z-]+/g))
          if (!command.help.includes(option)) wrong.push(`${file}: ${name} ${option}`);
      }
    }
    expect([...new Set(found)]).to.include.members(['init', 'check', 'serve', 'health', 'plugin']);
    expect(wrong).to.deep.equal([]);
  });

  it('name every option of the commands', () => {
    const texts = DOCUMENTS.filter((file) => !file.startsWith('sandbox/'))
      .map(read)
      .join('\n');
    const options = Object.entries(commands).flatMap(([name, { help }]) =>
      [...help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option]) => [name, option!] as const),
    );
    expect(options).to.deep.include(['check', '--write']);
    const missing = options.filter(([, option]) => !new RegExp(`${option}(?![a-z-])`).test(texts));
    expect(missing, 'docs/setup.md or another document needs a sentence on each').to.deep.equal([]);
  });

  it('show JSON that parses, configurations and variables that the gateway accepts, and mappings that compile', () => {
    const problems: string[] = [];
    const attempt = (what: string, action: () => void) => {
      try {
        action();
      } catch (error) {
        problems.push(`${what}: ${(error as Error).message}`);
      }
    };
    for (const file of DOCUMENTS) {
      const text = read(file);
      for (const { info, code } of blocks(text, 'json', 'jsonc')) {
        attempt(`${file}: ${code.slice(0, 60)}`, () => {
          const value = parseBlock(code) as Record<string, unknown>;
          if (info === 'json config') checkConfig(value);
          if (info === 'json mapping') compileMapping(value, String(value.name));
        });
      }
      for (const { code } of blocks(text, 'sh', 'ini', 'yaml')) {
        const assigned = [...code.matchAll(/\b(CALENDAR_[A-Z_]+)(?:=|: )("[^"]*"|'[^']*'|[^\s"']+)/g)];
        const env = Object.fromEntries(
          assigned.map(([, name, value = '']) => [name!, value.replace(/^["']|["']$/g, '')]),
        );
        attempt(`${file}: ${Object.keys(env).join(', ')}`, () => checkEnvironment(env));
      }
    }
    expect(problems).to.deep.equal([]);
  });

  it('name variables, settings, metrics and error codes that exist', async () => {
    const variables = new Set(SETTINGS.flatMap(({ variable, fileVariable }) => [variable, fileVariable]));
    const keys = SETTINGS.map(({ key }) => key);
    const sections = [...new Set(keys.filter((key) => key.includes('.')).map((key) => key.split('.')[0]))];
    const key = new RegExp(`\`((?:${sections.join('|')})\\.(?!ts\`|json\`)[a-zA-Z]+(?:\\.[a-zA-Z]+)*)\``, 'g');
    const metrics = await createMetrics().registry.metrics();
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
    const ofGateway = sources.filter((name) => /\.(ts|php)$/.test(name)).map((name) => `src/${name}`);
    // nginx answers while no gateway does.
    const code = [...ofGateway, 'deploy/nginx.conf'].map(read).join('\n');
    const wrong: string[] = [];
    // The changelog has old names, and the examples have variables of their own.
    const current = DOCUMENTS.filter((name) => name !== 'CHANGELOG.md' && !name.startsWith('examples/'));
    for (const file of [...current, ...DEPLOYMENT]) {
      const text = read(file);
      for (const [name] of text.matchAll(/\bCALENDAR_[A-Z_]*[A-Z]\b(?!_)/g))
        if (!variables.has(name) && !OTHER_VARIABLES.includes(name) && !text.includes(`${name}=tcp://`))
          wrong.push(`${file}: ${name}`);
      for (const [, name = ''] of text.matchAll(key))
        if (!keys.some((each) => each === name || each.startsWith(`${name}.`))) wrong.push(`${file}: ${name}`);
      for (const [, name = ''] of text.matchAll(/`(calendar_[a-z_]*[a-z])`/g))
        if (!metrics.includes(`# HELP ${name} `) && !code.includes(name)) wrong.push(`${file}: ${name}`);
    }
    expect(wrong).to.deep.equal([]);
  });
});

/** @throws ConfigError if the gateway refuses this configuration file */
function checkConfig(value: object): void {
  const folder = mkdtempSync(join(tmpdir(), 'documents-'));
  try {
    const file = join(folder, 'config.json');
    writeFileSync(file, JSON.stringify(value));
    loadConfig({ file, env: UPSTREAM });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @throws Error if the gateway refuses these variables, or warns of one. Does not read the files of `*_FILE`. */
function checkEnvironment(env: Record<string, string>): void {
  const known = Object.entries(env)
    .filter(([name]) => !OTHER_VARIABLES.includes(name))
    .map(([name, value]) => (name.endsWith('_FILE') ? [name.slice(0, -'_FILE'.length), 'a secret'] : [name, value]));
  loadConfig({
    env: { ...UPSTREAM, ...Object.fromEntries(known) },
    warn: (message) => {
      throw new Error(message);
    },
  });
}
