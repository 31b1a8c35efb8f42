// Checks of the site as a whole, and of the service account.

import { CmsRejected } from '../../errors.ts';
import { parseZone } from '../../time/zones.ts';
import { type Check, fail, ok, warn } from './checks.ts';

const CLOCK_TIMEOUT_MS = 10_000;
const SKEW_WARN_S = 5;
/** The gateway refuses webhooks beyond this. */
const SKEW_FAIL_S = 300;
const BY_CLOCK = "the poller compares times of the site's clock";

export const SITE_CHECKS: readonly Check[] = [
  {
    area: 'site',
    name: 'address',
    run: async ({ site, connection: { url } }) => ok(`${site.name}, ${url}`),
  },
  {
    area: 'site',
    name: 'clock',
    async run({ connection: { url } }) {
      const beforeMs = Date.now();
      const options = { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(CLOCK_TIMEOUT_MS) } as const;
      const response = await fetch(url, options).catch(() => undefined);
      const siteTimeMs = Date.parse(response?.headers.get('date') ?? '');
      if (Number.isNaN(siteTimeMs))
        return warn(
          'the site sends no Date header: its clock is unknown',
          `Let the site's web server, or the proxy in front of it, send the header Date: ${BY_CLOCK}.`,
        );
      // The header has whole seconds, rounded down.
      const skewS = Math.round((siteTimeMs + 500 - (beforeMs + Date.now()) / 2) / 1000);
      const skew = `${Math.abs(skewS)} s ${skewS > 0 ? 'ahead' : 'behind'}`;
      const advice = `Set both machines' clocks by NTP: ${BY_CLOCK}, and the signature of a webhook holds a time.`;
      if (Math.abs(skewS) > SKEW_FAIL_S) return fail(`${skew}: the gateway refuses webhooks`, advice);
      return Math.abs(skewS) > SKEW_WARN_S ? warn(skew, advice) : ok(`within ${SKEW_WARN_S} s of this machine's`);
    },
  },
  {
    area: 'site',
    name: 'time zone',
    async run({ site: { timezone }, mapping, cms: { words } }) {
      if (mapping.cms === 'payload' && mapping.source.payload?.timezone === undefined)
        return warn('the mapping names no time zone: times of events without one are in UTC', words.timeZone);
      const zone = parseZone(timezone);
      if (!zone) return fail(`"${timezone}" is not a known time zone`, words.timeZone);
      if (zone.kind === 'fixed' && timezone !== 'UTC')
        return warn(`${timezone}, a fixed offset: it does not follow summer time`, words.timeZone);
      return ok(timezone);
    },
  },
  {
    area: 'account',
    name: 'service',
    isRequired: true,
    async run({ config, cms: { words }, connection: { cms, credentials } }) {
      if (credentials === undefined)
        return warn(
          'none: check sees only what visitors see, and images that were uploaded to a draft are missing',
          words.account,
        );
      const { user, readAs } = config.upstream;
      const effect = readAs === 'account' ? ': everybody sees what this account sees (upstream.readAs)' : '';
      try {
        return ok(`${user} (${(await cms.account({ credentials })).roles.join(', ') || 'no role'})${effect}`);
      } catch (error) {
        if (!(error instanceof CmsRejected)) throw error;
        return fail(`the site does not accept ${user} with this password (${error.code})`, words.rejected);
      }
    },
  },
];
