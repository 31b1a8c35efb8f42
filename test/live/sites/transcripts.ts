// `npm run transcripts`: sets the gateway up for each kind of site as an operator would, and writes down what the terminal said.

import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mappingNames } from '../../../src/mapping/load.ts';
import { ROOT } from '../gateway-process.ts';
import { filledSite, wordPressOf } from './filled-site.ts';
import type { SiteUnderTest } from './site-under-test.ts';
import { TWENTY_LINES } from './twenty-lines.ts';

const SHOWN_URL = 'https://www.example.org';
const SHOWN_USER = 'calendar';
const PASSWORD_FILE = 'application-password';
const MADE = 'calendar-gateway';
const DOCS = join(ROOT, 'docs/transcripts');
/** Plugins with rights of their own give them to administrators only; elsewhere an editor is enough. */
const ADMINISTRATORS = new Set(['wp-event-manager', 'events-manager', 'event-organiser', 'eventon']);
/** Without credentials such a site shows nothing by which it could be known. */
const HIDDEN = new Set(['events-manager']);

const ANONYMOUS = `init ${SHOWN_URL} --anonymous --yes --out without-account`;
const INIT = `init ${SHOWN_URL} --user ${SHOWN_USER} --password-file ${PASSWORD_FILE} --yes`;
const CHECK = `check --config ${MADE}/config.json`;

interface Said {
  command: string;
  text: string;
  code: number;
}

type Run = (shown: string, env?: Record<string, string>) => Promise<Said>;

/** Runs a command as it is shown, in a folder of its own; a password comes from nowhere but its file. */
function commandsIn(folder: string, site: SiteUnderTest, user: string): Run {
  const real: Record<string, string> = { [SHOWN_URL]: site.sandbox.url, [SHOWN_USER]: user };
  return async (shown, env = {}) => {
    const child = spawn(
      process.execPath,
      [join(ROOT, 'src/main.ts'), ...shown.split(' ').map((word) => real[word] ?? word)],
      { cwd: folder, env: { PATH: process.env.PATH, NO_COLOR: '1', ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
    const code = await new Promise<number>((done) => child.once('close', (ended) => done(ended ?? 1)));
    return {
      command: `calendar-gateway ${shown}`,
      text: stable(text, site, user).replaceAll(folder, '/home/you'),
      code,
    };
  };
}

/** The same from one run to the next: the site's address and the name of the account. */
function stable(text: string, { sandbox }: SiteUnderTest, user: string): string {
  return text
    .replaceAll(sandbox.url, SHOWN_URL)
    .replaceAll(new RegExp(`\\b${user}( \\()`, 'gi'), `${SHOWN_USER}$1`)
    .trimEnd();
}

/** The settings of an environment file that `init` wrote. */
function settingsIn(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').matchAll(/^(\w+)="(.*)"$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}

const shell = (...said: Said[]): string =>
  `\`\`\`console\n${said.map(({ command, text, code }) => `$ ${command}\n${text}\n$ echo $?\n${code}`).join('\n\n')}\n\`\`\``;

/** What is said before the proposal, and from the files on: the proposal itself is the same. */
function shortened(said: Said, other: Said): Said {
  const middle = /\nProposal[\s\S]*?(?=\nwrote )/;
  const same = middle.exec(said.text)?.[0] === middle.exec(other.text)?.[0];
  return same
    ? { ...said, text: said.text.replace(middle, '\n(the proposal and the records are those below)\n') }
    : said;
}

interface Transcript {
  text: string;
  /** What an operator would not have wished. */
  wrong: string[];
}

async function transcriptOf(name: string): Promise<Transcript> {
  const site = await filledSite(name);
  const folder = mkdtempSync(join(tmpdir(), 'calendar-setup-'));
  const wrong: string[] = [];
  const expected = (said: Said, right: boolean, what: string): Said => {
    if (!right) wrong.push(`${said.command}: ${what}\n${said.text}`);
    return said;
  };
  try {
    const role = ADMINISTRATORS.has(name) ? 'admin' : 'editor';
    const { user, applicationPassword } = site.sandbox.credentials[role];
    writeFileSync(join(folder, PASSWORD_FILE), applicationPassword);
    const run = commandsIn(folder, site, user);
    const recognised = (said: Said) =>
      expected(
        said,
        said.code === 0 &&
          new RegExp(`^Mapping +${name === TWENTY_LINES ? 'a file of its own' : name},`, 'm').test(said.text),
        `ends with ${said.code}, or does not take the site for ${name}`,
      );
    const anonymous = await run(ANONYMOUS);
    if (!HIDDEN.has(name)) recognised(anonymous);
    const first = recognised(await run(INIT));
    const settings = settingsIn(join(folder, MADE, 'secrets.env'));
    const php = join(folder, MADE, 'calendar-gateway.php');
    const parts = [
      `# ${name}`,
      `Written by \`npm run transcripts\` from a WordPress that is set up as the plugin leaves it, with ${
        name === 'wordpress-meta' ? 'no' : 'some'
      } events in it. The account is ${role === 'admin' ? 'an administrator' : 'an editor'}.`,
      '## Without an account',
      shell(shortened(anonymous, first)),
      '## With one',
      shell(first),
    ];
    if (existsSync(php)) {
      const red = await run(CHECK, settings);
      expected(red, red.code === 1, 'is not red before the PHP file is in');
      copyFileSync(php, join(wordPressOf(site), 'wp-content/mu-plugins/calendar-gateway.php'));
      const again = recognised(await run(`${INIT} --force`));
      parts.push('## Before the PHP file is in', shell(red));
      parts.push(`## With \`${MADE}/calendar-gateway.php\` in \`wp-content/mu-plugins/\``, shell(again));
    } else parts.push('## Checked');
    const check = site.mapping.kinds.event.readOnly ? CHECK : `${CHECK} --write`;
    const green = await run(check, settings);
    expected(green, green.code === 0, `ends with ${green.code}`);
    const { ok, counts } = JSON.parse((await run(`${CHECK} --json`, settings)).text);
    if (!ok || counts.fail > 0) wrong.push('check --json says otherwise');
    parts.push(shell(green));
    return { text: `${parts.join('\n\n')}\n`, wrong };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await site.close();
  }
}

/** With arguments: these mappings alone. */
const wanted = process.argv.slice(2);
let failed = 0;
mkdirSync(DOCS, { recursive: true });
for (const name of [...mappingNames(), TWENTY_LINES].filter((each) => wanted.length === 0 || wanted.includes(each))) {
  const begunMs = Date.now();
  const { text, wrong } = await transcriptOf(name);
  writeFileSync(join(DOCS, `${name}.md`), text);
  failed += wrong.length;
  for (const each of wrong) process.stderr.write(`FAIL ${name}: ${each}\n`);
  process.stdout.write(`${name}: ${wrong.length} wrong (${Math.round((Date.now() - begunMs) / 1000)} s)\n`);
}
process.exitCode = failed > 0 ? 1 : 0;
