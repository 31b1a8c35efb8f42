// Checks of the site as a whole, of the service account, and of the gateway's own settings.

import type { Action } from '../../cms/port.ts';
import { settingsOf } from '../../cms/wordpress/record-form.ts';
import { publicUrlOf } from '../../config.ts';
import { CmsRejected } from '../../errors.ts';
import { parseZone } from '../../time/zones.ts';
import { type Check, type Finding, fail, ok, warn } from './checks.ts';

const SKEW_WARN_S = 5;
/** The gateway refuses webhooks beyond this. */
const SKEW_FAIL_S = 300;

export const SITE_CHECKS: readonly Check[] = [
  {
    area: 'site',
    name: 'address',
    async run({ config, site, cms: { advise }, connection: { url } }) {
      const isSafe = url.startsWith('https:') || isPrivateHost(new URL(url).hostname);
      if (isSafe || config.upstream.user === undefined) return ok(`${site.name}, ${url}`);
      return warn(`${site.name}, ${url}: a password goes over the network in plain text`, advise('https'));
    },
  },
  {
    area: 'site',
    name: 'clock',
    async run({ cms: { advise, headers: readHeaders } }) {
      const beforeMs = Date.now();
      const headers = await readHeaders();
      const siteTimeMs = Date.parse(headers.date ?? '');
      if (Number.isNaN(siteTimeMs))
        return warn('the site sends no Date header: its clock is unknown', advise('date-header'));
      // The header has whole seconds, rounded down.
      const skewS = Math.round((siteTimeMs + 500 - (beforeMs + Date.now()) / 2) / 1000);
      const skew = `${Math.abs(skewS)} s ${skewS > 0 ? 'ahead' : 'behind'}`;
      if (Math.abs(skewS) > SKEW_FAIL_S) return fail(`${skew}: the gateway refuses webhooks`, advise('clock'));
      return Math.abs(skewS) > SKEW_WARN_S
        ? warn(skew, advise('clock'))
        : ok(`within ${SKEW_WARN_S} s of this machine's`);
    },
  },
  {
    area: 'site',
    name: 'time zone',
    async run({ site: { timezone }, cms: { advise } }) {
      const zone = parseZone(timezone);
      if (!zone) return fail(`"${timezone}" is not a known time zone`, advise('time-zone'));
      if (zone.kind === 'fixed' && timezone !== 'UTC')
        return warn(`${timezone}, a fixed offset: it does not follow summer time`, advise('time-zone'));
      return ok(timezone);
    },
  },
];

const isPrivateHost = (host: string): boolean =>
  /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\])|\.(local|internal)$/.test(host) ||
  !host.includes('.');

const READ_ACTIONS: readonly Action[] = ['edit', 'readOthers', 'readPrivate'];
const WRITE_ACTIONS: readonly Action[] = ['publish', 'delete'];

export const ACCOUNT_CHECKS: readonly Check[] = [
  {
    area: 'account',
    name: 'service',
    isRequired: true,
    async run({ config, kinds, cms: { advise }, connection, account }) {
      if (connection.credentials === undefined)
        return kinds.some((kind) => settingsOf(kind).context === 'edit')
          ? fail(
              'none, and the mapping reads fields that are only shown for editing ("wordpress": { "context": "edit" })',
              advise('service-account'),
            )
          : warn(
              'none: the replica has public records only; lists for staff ask the site every time',
              advise('service-account'),
            );
      const { user } = config.upstream;
      try {
        return ok(`${user} (${(await account()).roles.join(', ') || 'no role'})`);
      } catch (error) {
        if (!(error instanceof CmsRejected)) throw error;
        return fail(
          `the site does not accept ${user} with this password (${error.code})`,
          advise('account-rejected', error),
        );
      }
    },
  },
  {
    area: 'account',
    async run({ kinds, cms: { advise, generalPermissions }, connection, account, collectionInfo }) {
      if (connection.credentials === undefined) return [];
      const { permissions: granted } = await account();
      const findings: Finding[] = [];
      for (const kind of kinds.filter(({ storedAs }) => storedAs === 'posts')) {
        const { collection: name, readOnly } = kind;
        const info = await collectionInfo(kind);
        if (!info) continue;
        const permissions = info.permissions ?? generalPermissions;
        if (!permissions) continue;
        const missing = (actions: readonly Action[]) =>
          actions.map((action) => permissions[action]).filter((permission) => !granted.has(permission));
        // An account with the general permissions to which the CMS does not show those of the collection does
        // not have the latter.
        const isHidden = info.permissions === undefined && missing(READ_ACTIONS).length === 0;
        const missingToRead = isHidden ? [`the capabilities of ${name}`] : missing(READ_ACTIONS);
        const missingToWrite = readOnly ? [] : missing(WRITE_ACTIONS);
        const advice = advise('capabilities', [...missingToRead, ...missingToWrite]);
        if (missingToRead.length > 0)
          findings.push({
            name,
            ...fail(`lacks ${missingToRead.join(', ')}: lists would have gaps, and are not replicated`, advice),
          });
        else if (missingToWrite.length > 0)
          findings.push({
            name,
            ...warn(
              `lacks ${missingToWrite.join(', ')}: callers write with their own accounts, but --write cannot try it`,
              advice,
            ),
          });
        else findings.push({ name, ...ok(readOnly ? 'may read everything' : 'may read and write everything') });
      }
      return findings;
    },
  },
];

export const GATEWAY_CHECKS: readonly Check[] = [
  {
    area: 'gateway',
    name: 'webhooks',
    async run({ config, pluginOptions, cms: { advise }, webhooks }) {
      if (webhooks) return webhooks.finding();
      if (config.webhook.secret !== undefined) return [];
      return warn(
        `none: the gateway sees a change made in the CMS within ${config.sync.intervalS} s`,
        advise('webhooks', pluginOptions, config.listen.adminPort),
      );
    },
  },
  {
    area: 'gateway',
    name: 'public address',
    run: async ({ config, cms: { advise } }) =>
      config.publicUrl === undefined
        ? warn(`links in responses begin with ${publicUrlOf(config)}`, advise('public-address'))
        : ok(config.publicUrl),
  },
  {
    area: 'gateway',
    name: 'pages',
    async run({ config: { pages }, mapping }) {
      const onOff = (isOn: boolean) => (isOn ? 'on' : 'off');
      return ok(
        `calendar at / ${onOff(pages.landing)}, documentation ${onOff(pages.documentation)}; mapping ${mapping.name}`,
      );
    },
  },
];
