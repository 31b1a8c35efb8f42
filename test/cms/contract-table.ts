// `node test/cms/contract-table.ts`: checks every implementation of the CMS port, a new WordPress and a new Payload among them,
// and prints a table of implementations and promises.

import nock from 'nock';
import type { PayloadIds } from '../../sandbox/payload-site.ts';
import { companionPlugin } from '../../src/cli/plugin/companion-plugin.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { basicAuth } from '../live/json-client.ts';
import { scriptOptions } from '../script-options.ts';
import { withPayload, withSandbox } from '../temporary-site.ts';
import { checkContract } from './contract.ts';
import type { ContractSubject } from './contract-context.ts';
import { fakeCms, livePayload, liveWordPress, recordedPayload, recordedWordPress } from './implementations.ts';
import { PROMISES } from './promises.ts';

type Results = readonly (Error | undefined)[];

async function checkRecorded(open: () => ContractSubject): Promise<Results> {
  nock.activate();
  nock.disableNetConnect();
  try {
    return await checkContract(open());
  } finally {
    nock.cleanAll();
    nock.enableNetConnect();
    nock.restore();
  }
}

const checkLiveWordPress = (): Promise<Results> => {
  const muPlugins = { 'calendar-gateway-companion.php': companionPlugin(loadMapping('wordpress-meta')) };
  return withSandbox({ mapping: false, muPlugins }, ({ url, credentials: { admin, subscriber } }) =>
    checkContract(liveWordPress(url, { admin: basicAuth(admin), subscriber: basicAuth(subscriber) })),
  );
};

const checkLivePayload = (ids: PayloadIds): Promise<Results> =>
  withPayload(
    ({ url, credentials: { admin, subscriber } }) =>
      checkContract(livePayload(url, { admin: admin.apiKey, subscriber: subscriber.apiKey })),
    ids,
  );

const options = scriptOptions(
  `node test/cms/contract-table.ts [options]

Checks what each implementation of the CMS port promises, and prints a table. Starts a new WordPress and two new Payloads, which the first
run downloads (64 and 350 MB); takes a minute after that.`,
  {
    'in-memory': {
      type: 'boolean',
      help: 'only the fake CMS and the recorded responses, which need no site: a second',
    },
  },
);
const columns: [name: string, results: Results][] = [
  ['fake CMS', await checkContract(fakeCms())],
  ['WordPress, recorded', await checkRecorded(recordedWordPress)],
  ['Payload, recorded', await checkRecorded(recordedPayload)],
];
if (!options['in-memory'])
  columns.push(
    ['WordPress, live', await checkLiveWordPress()],
    ['Payload, live', await checkLivePayload('number')],
    ['Payload with UUIDs, live', await checkLivePayload('uuid')],
  );
const print = (text: string): void => void process.stdout.write(`${text}\n`);
print(`| promise | ${columns.map(([name]) => name).join(' | ')} |`);
print(`|---|${columns.map(() => '---|').join('')}`);
for (const [n, { name }] of PROMISES.entries())
  print(`| ${name} | ${columns.map(([, results]) => (results[n] ? 'no' : 'yes')).join(' | ')} |`);
const broken = columns.flatMap(([name, results]) =>
  results.flatMap((error, n) => (error ? [`${name}: ${PROMISES[n]!.name}: ${error.message}`] : [])),
);
for (const line of broken) process.stderr.write(`${line}\n`);
process.exit(broken.length > 0 ? 1 : 0);
