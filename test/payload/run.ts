// `npm run test:payload`: a real Payload behind the gateway. Checks the types of the example site and its plugin, then
// changes, outages and crashes, then the recorded answers, if present, with the limits below.

import { ensurePackages } from '../../sandbox/packages.ts';
import { type ConformanceResult, playRecordedAnswers, runNode } from '../conformance.ts';
import { scriptOptions } from '../script-options.ts';
import { withPayload } from '../temporary-site.ts';
import { startBasicAuthProxy } from './basic-auth-proxy.ts';
import differences from './differences.json' with { type: 'json' };
import { startPayloadGateway } from './payload-gateway.ts';

/** At least this share of the steps. */
const MIN_STATUS_AND_CODE = 0.97;
const MIN_WHOLE = 0.94;

const log = (text: string): void => void process.stderr.write(`payload: ${text}\n`);

/** Plays the recorded answers with all roles of the site and anonymously. Resolves with what is wrong. */
const conformance = (): Promise<string[]> =>
  withPayload(async (site) => {
    let target = '';
    const proxy = await startBasicAuthProxy(() => target, site.url);
    const gateway = await startPayloadGateway(site, { publicUrl: proxy.url });
    target = gateway.url;
    try {
      const users = Object.entries(site.credentials);
      const result = await playRecordedAnswers({
        base: `${proxy.url}/calendar/events/v1`,
        media: `${proxy.url}/media`,
        origin: site.url,
        logins: Object.fromEntries(users.map(([role, { apiKey }]) => [role, `${role}:${apiKey}`])),
        known: differences.steps,
        more: ['--quiet'],
      });
      return result ? judge(result) : [];
    } finally {
      await gateway.stop();
      proxy.close();
    }
  });

/** What is below its limit, and what differs without a reason. */
function judge({ total, passed, statusAndCode, unexplained }: ConformanceResult): string[] {
  const problems = unexplained.map((step) => `${step} differs without a reason in differences.json`);
  for (const [name, count, least] of [
    ['status and code', statusAndCode, MIN_STATUS_AND_CODE],
    ['the whole response', passed, MIN_WHOLE],
  ] as const) {
    log(`${name} as recorded: ${count} of ${total} steps (${((100 * count) / total).toFixed(1)} %)`);
    if (count / total < least) problems.push(`${name}: below ${100 * least} %`);
  }
  return problems;
}

const { only } = scriptOptions(
  `npm run test:payload -- [options]

Starts a real Payload with a gateway in front of it. Checks the types of the example site and its plugin, then changes, outages and crashes,
then the recorded responses, if present. The first run downloads Payload from npm (350 MB). Takes a minute after that.`,
  {
    only: {
      type: 'string',
      value: 'PART',
      choices: ['changes', 'answers'],
      help: 'changes (with the types) or answers (default: both)',
    },
  },
);
const results: boolean[] = [];
if (only !== 'answers') {
  await ensurePackages('payload', log);
  results.push((await runNode(['node_modules/typescript/bin/tsc', '-p', 'sandbox/payload'])) === 0);
  results.push((await runNode(['node_modules/mocha/bin/mocha.js', '--config', 'test/payload/.mocharc.json'])) === 0);
}
if (only !== 'changes') {
  const problems = await conformance();
  for (const problem of problems) log(problem);
  results.push(problems.length === 0);
}
process.exitCode = results.every(Boolean) ? 0 : 1;
