// `node test/load/staff-lists.ts`: what an editor's list costs with 0, 100 and 2,000 drafts on the site.

import { authorization } from '../faults/fake-wordpress.ts';
import { freePort } from '../free-port.ts';
import { scriptOptions } from '../script-options.ts';
import { sendRequest } from '../start-gateway.ts';
import { exitWithResult, MOUNT, report, startMeasuredGateway } from './measured-gateway.ts';

const options = scriptOptions(
  `node test/load/staff-lists.ts [options]

Sends an editor's list of drafts to a gateway in front of a fake WordPress, twice. Prints the time, the calls to the CMS and the longest stall of the
event loop. Needs nothing else. Takes some seconds.`,
  { drafts: { type: 'string', value: 'N,N', default: '0,100,2000', help: 'how many drafts the site has' } },
);
const headers = { authorization: authorization('editor') };
/** Of WordPress. */
const PAGE_SIZE = 100;
const MAX_STALL_MS = 60;
/** Beside the events, the list needs the unpublished venues and organizers: a page of each, here without any. */
const OTHER_PAGES = 2;
const CONTENT = '<p>Music from six countries, and soup at noon. Please bring your own cup.</p>\n'.repeat(40);
const LIST = '/events?status=publish,draft&per_page=50&start_date=2031-01-01&end_date=2031-12-31';

for (const drafts of options.drafts.split(',').map(Number)) {
  const port = await freePort();
  const probe = new URL(`./stall-probe.ts?port=${port}`, import.meta.url).href;
  const gateway = await startMeasuredGateway({ sync: { intervalS: 3600 } }, ['--import', probe], ({ cms }) => {
    for (const { id, status } of [...cms.posts.values()]) if (status !== 'publish') cms.posts.delete(id);
    for (let n = 0; n < drafts; n += 1)
      cms.createPost('events', {
        status: 'draft',
        title: `Draft ${n}`,
        content: CONTENT,
        meta: { start_date: '2031-03-04 10:00:00', end_date: '2031-03-04 11:00:00' },
      });
  });
  const list = async () => {
    const { requests } = gateway.wordpress;
    const [startMs, before] = [performance.now(), requests.length];
    const { status, text } = await sendRequest(gateway.port, MOUNT + LIST, { headers });
    if (status !== 200) throw new Error(`${status} ${text.slice(0, 200)}`);
    const ms = performance.now() - startMs;
    return { ms, total: JSON.parse(text).total as number, calls: requests.length - before };
  };
  // The login and what the account may do are known for a minute.
  for (const kind of ['event', 'venue', 'organizer'])
    await sendRequest(gateway.port, `${MOUNT}/${kind}s/999999`, { method: 'DELETE', headers });
  await sendRequest(port, '/');
  const first = await list();
  const stallMs = Number((await sendRequest(port, '/')).text);
  const again = await list();
  await gateway.stop();
  const what = `${drafts} drafts (${first.total} events)`;
  const figure = `${first.ms.toFixed(0)} ms, the next ${again.ms.toFixed(0)} ms; ${first.calls} and ${again.calls} calls`;
  const most = Math.max(1, Math.ceil(drafts / PAGE_SIZE)) + OTHER_PAGES;
  report(`the list with ${what}`, figure, `at most ${most} and 0 calls`, first.calls <= most && again.calls === 0);
  report(
    `the longest stall with ${what}`,
    `${stallMs.toFixed(0)} ms`,
    `at most ${MAX_STALL_MS} ms`,
    stallMs <= MAX_STALL_MS,
  );
}
exitWithResult();
