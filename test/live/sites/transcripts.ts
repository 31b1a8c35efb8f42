// `npm run transcripts [MAPPING ...]`: sets up the gateway for each site as an operator would, and writes the
// terminal output to docs/.

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mappingNames } from '../../../src/mapping/load.ts';
import { scriptWords } from '../../script-options.ts';
import { ROOT } from '../../start-gateway.ts';
import { type CliResult, runCli, settingsIn } from '../cli-process.ts';
import { DOCUMENTED_MAPPING } from './documented-mapping.ts';
import { documentRootOf, startSeededSite } from './seeded-site.ts';
import type { TestSite } from './test-site.ts';

const SHOWN_URL = 'https://www.example.org';
const SHOWN_USER = 'calendar';
const PASSWORD_FILE = 'application-password';
const OUTPUT_FOLDER = 'calendar-gateway';
const DOCS = join(ROOT, 'docs/transcripts');
/** Their plugins have capabilities of their own, which only administrators have. */
const ADMINISTRATORS = new Set(['wp-event-manager', 'events-manager', 'event-organiser', 'eventon']);
/** Without credentials their sites show nothing of the plugin. */
const HIDDEN_TYPES = new Set(['events-manager']);

const ANONYMOUS = `init ${SHOWN_URL} --anonymous --yes --out without-account`;
const INIT = `init ${SHOWN_URL} --user ${SHOWN_USER} --password-file ${PASSWORD_FILE} --yes`;
const CHECK = `check --config ${OUTPUT_FOLDER}/config.json`;

interface CommandOutput extends CliResult {
  command: string;
}

type Run = (commandLine: string, env?: Record<string, string>) => Promise<CommandOutput>;

/** Runs a command line in a folder, with the address and user of the real site. */
function commandRunner(folder: string, site: TestSite, user: string): Run {
  const real: Record<string, string> = { [SHOWN_URL]: site.sandbox.url, [SHOWN_USER]: user };
  return async (commandLine, env = {}) => {
    const args = commandLine.split(' ').map((word) => real[word] ?? word);
    const { text, code } = await runCli(args, { cwd: folder, env });
    return {
      command: `calendar-gateway ${commandLine}`,
      text: normalized(text, site, user).replaceAll(folder, '/home/you'),
      code,
    };
  };
}

/** Replaces what differs between runs: the site's address and the name of the account. */
function normalized(text: string, { sandbox }: TestSite, user: string): string {
  return text
    .replaceAll(sandbox.url, SHOWN_URL)
    .replaceAll(new RegExp(`\\b${user}( \\()`, 'gi'), `${SHOWN_USER}$1`)
    .trimEnd();
}

const shell = (...outputs: CommandOutput[]): string =>
  `\`\`\`console\n${outputs.map(({ command, text, code }) => `$ ${command}\n${text}\n$ echo $?\n${code}`).join('\n\n')}\n\`\`\``;

/** Omits the proposal if it is the same as in the other output. */
function shortened(output: CommandOutput, other: CommandOutput): CommandOutput {
  const middle = /\nProposal[\s\S]*?(?=\nwrote )/;
  const same = middle.exec(output.text)?.[0] === middle.exec(other.text)?.[0];
  return same
    ? { ...output, text: output.text.replace(middle, '\n(the proposal and the events are those below)\n') }
    : output;
}

interface Transcript {
  text: string;
  problems: string[];
}

async function transcriptOf(name: string): Promise<Transcript> {
  const site = await startSeededSite(name);
  const folder = mkdtempSync(join(tmpdir(), 'calendar-setup-'));
  const problems: string[] = [];
  const expectThat = (output: CommandOutput, isTrue: boolean, problem: string): CommandOutput => {
    if (!isTrue) problems.push(`${output.command}: ${problem}\n${output.text}`);
    return output;
  };
  try {
    const role = ADMINISTRATORS.has(name) ? 'admin' : 'editor';
    const { user, applicationPassword } = site.sandbox.credentials[role];
    writeFileSync(join(folder, PASSWORD_FILE), applicationPassword);
    const run = commandRunner(folder, site, user);
    const expectRecognized = (output: CommandOutput) =>
      expectThat(
        output,
        output.code === 0 &&
          new RegExp(`^Mapping +${name === DOCUMENTED_MAPPING ? 'a file of its own' : name},`, 'm').test(output.text),
        `exits with ${output.code}, or does not recognize ${name}`,
      );
    const anonymous = await run(ANONYMOUS);
    if (!HIDDEN_TYPES.has(name)) expectRecognized(anonymous);
    const first = expectRecognized(await run(INIT));
    const settings = settingsIn(join(folder, OUTPUT_FOLDER, 'secrets.env'));
    const php = join(folder, OUTPUT_FOLDER, 'calendar-gateway-companion.php');
    const parts = [
      `# ${name}`,
      `Written by \`npm run transcripts\` from a WordPress with the post types and data of the plugin, and ${
        name === 'wordpress-meta' ? 'no' : 'some'
      } events in it. The account is ${role === 'admin' ? 'an administrator' : 'an editor'}.`,
      '## Without an account',
      shell(shortened(anonymous, first)),
      '## With an account',
      shell(first),
    ];
    if (existsSync(php)) {
      const failing = await run(CHECK, settings);
      expectThat(failing, failing.code === 1, 'does not fail without the companion plugin');
      copyFileSync(php, join(documentRootOf(site), 'wp-content/mu-plugins/calendar-gateway-companion.php'));
      const withPlugin = expectRecognized(await run(`${INIT} --force`));
      parts.push('## Without the companion plugin', shell(failing));
      parts.push(
        `## With \`${OUTPUT_FOLDER}/calendar-gateway-companion.php\` in \`wp-content/mu-plugins/\``,
        shell(withPlugin),
      );
    } else parts.push('## Check');
    const check = site.mapping.kinds.event.readOnly ? CHECK : `${CHECK} --write`;
    const passing = await run(check, settings);
    expectThat(passing, passing.code === 0, `exits with ${passing.code}`);
    const { ok, counts } = JSON.parse((await run(`${CHECK} --json`, settings)).text);
    if (!ok || counts.fail > 0) problems.push('check --json has failures');
    parts.push(shell(passing));
    return { text: `${parts.join('\n\n')}\n`, problems };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await site.close();
  }
}

const names = [...mappingNames('wordpress'), DOCUMENTED_MAPPING];
const wanted = scriptWords(
  `npm run transcripts [-- MAPPING...]

Runs init and check in front of a new WordPress for each bundled mapping (or those that are named), and writes the terminal output to
docs/transcripts/. Takes about four minutes for all.

${names.join('\n')}`,
  names,
);
let failed = 0;
mkdirSync(DOCS, { recursive: true });
for (const name of names.filter((each) => wanted.length === 0 || wanted.includes(each))) {
  const startedMs = Date.now();
  const { text, problems } = await transcriptOf(name);
  writeFileSync(join(DOCS, `${name}.md`), text);
  failed += problems.length;
  for (const each of problems) process.stderr.write(`FAIL ${name}: ${each}\n`);
  process.stdout.write(`${name}: ${problems.length} problems (${Math.round((Date.now() - startedMs) / 1000)} s)\n`);
}
process.exitCode = failed > 0 ? 1 : 0;
