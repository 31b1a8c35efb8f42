// Checks of the site as a whole: where it is, its clock and time zone, the service account, change notices, the gateway's own pages.

import { type Config, publicUrlOf } from '../config.ts';
import { UpstreamRefused } from '../errors.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import { KINDS, type Kind, type Site } from '../records.ts';
import { parseZone } from '../time/zones.ts';
import type { Account } from '../upstream/port.ts';
import { rowsOf, snippetAdvice } from './check-rows.ts';
import { basic, type OpenSite, unlessRefused } from './open-site.ts';
import { ownName } from './own-name.ts';
import type { Row } from './table.ts';

export interface Checked {
  config: Config;
  mapping: Mapping;
  site: Site;
  open: OpenSite;
}

const SKEW_WARN_S = 5;
/** Change notices are refused beyond this. */
const SKEW_FAIL_S = 300;

/** The address, the clock, the time zone. */
export async function siteRows({ config, site, open }: Checked): Promise<Row[]> {
  const { rows, ok, warn, fail } = rowsOf('site');
  const secure = open.url.startsWith('https:') || isInner(new URL(open.url).hostname);
  const says = `${site.name}, ${open.url}`;
  if (secure || config.upstream.user === undefined) ok('address', says);
  else
    warn(
      'address',
      `${says}: a password goes over the network in plain text`,
      'Name the site with https:// in upstream.url.',
    );
  const beforeMs = Date.now();
  const name = { query: { _fields: 'name' } };
  const openly = unlessRefused(open.call('GET', '', name, { credentials: undefined }), undefined);
  const { headers } = (await openly) ?? (await open.call('GET', '', name));
  const afterMs = Date.now();
  const theirs = Date.parse(headers.date ?? '');
  // The header counts whole seconds, cut off.
  const skewS = Math.round((theirs + 500 - (beforeMs + afterMs) / 2) / 1000);
  const clock =
    "Set both machines' clocks by NTP. The copy asks for changes by the site's clock, signed notices by both.";
  if (Number.isNaN(theirs)) warn('clock', 'the site sends no Date header, so that its clock is not known', clock);
  else if (Math.abs(skewS) > SKEW_FAIL_S)
    fail('clock', `${Math.abs(skewS)} s ${skewS > 0 ? 'ahead' : 'behind'}: change notices are refused`, clock);
  else if (Math.abs(skewS) > SKEW_WARN_S)
    warn('clock', `${Math.abs(skewS)} s ${skewS > 0 ? 'ahead' : 'behind'}`, clock);
  else ok('clock', `within ${SKEW_WARN_S} s of this machine's`);
  const zone = parseZone(site.timezone);
  const choose = 'Choose a city in wp-admin under Settings > General > Timezone.';
  if (!zone) fail('time zone', `"${site.timezone}" is no zone that can be counted in`, choose);
  else if (zone.kind === 'fixed' && site.timezone !== 'UTC')
    warn('time zone', `${site.timezone}, a fixed offset: summer time is not followed`, choose);
  else ok('time zone', site.timezone);
  return rows;
}

const isInner = (host: string): boolean =>
  /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\])|\.(local|internal)$/.test(host) ||
  !host.includes('.');

const RIGHTS = ['edit_posts', 'edit_others_posts', 'read_private_posts'] as const;
const WRITING = ['publish_posts', 'delete_posts'] as const;

/** The service account and what it may do with each collection. */
export async function accountRows({ config, mapping, open }: Checked): Promise<Row[]> {
  const { rows, ok, warn, fail } = rowsOf('account');
  if (open.credentials === undefined) {
    const edit = kindsOf(mapping).some(({ context }) => context === 'edit');
    const todo =
      'Make an application password for an editor (wp-admin > Users > Profile) and set CALENDAR_UPSTREAM_USER and CALENDAR_UPSTREAM_PASSWORD.';
    if (edit) fail('service', 'none, and the mapping reads what is shown for editing only (context "edit")', todo);
    else warn('service', 'none: public records are copied; lists of staff ask the site every time', todo);
    return rows;
  }
  let account: Account;
  try {
    account = await open.upstream.account({ credentials: open.credentials });
  } catch (error) {
    if (!(error instanceof UpstreamRefused)) throw error;
    fail(
      'service',
      `${config.upstream.user} is not accepted with this password (${error.code})`,
      'It has to be an application password (wp-admin > Users > Profile). If it is one, the web server may keep the Authorization header from PHP.',
    );
    return rows;
  }
  ok('service', `${config.upstream.user} (${account.roles.join(', ') || 'no role'})`);
  for (const kind of kindsOf(mapping)) {
    if (kind.as === 'terms') continue;
    const facts = await unlessRefused(open.upstream.facts(kind.base, { credentials: open.credentials }), undefined);
    if (!facts) continue;
    const lacks = (names: readonly string[]) =>
      names.map((name) => facts.capabilities[name] ?? name).filter((name) => !account.capabilities.has(name));
    const needed = lacks(RIGHTS);
    const useful = kind.readOnly ? [] : lacks(WRITING);
    const todo = `Give the service account a role that has ${[...needed, ...useful].join(', ')}: an editor for ordinary types; plugins with rights of their own often give them to administrators only.`;
    if (needed.length > 0)
      fail(kind.base, `lacks ${needed.join(', ')}: lists would have holes, and are not copied`, todo);
    else if (useful.length > 0)
      warn(
        kind.base,
        `lacks ${useful.join(', ')}: writes are done by the callers' own accounts, but --write cannot try them`,
        todo,
      );
    else ok(kind.base, kind.readOnly ? 'may read everything' : 'may read and write everything');
  }
  return rows;
}

/** The kinds that the CMS has by this mapping, in the order of `KINDS`. */
export function kindsOf(mapping: Mapping): KindMapping<Kind>[] {
  return KINDS.flatMap((kind) => (mapping.kinds[kind] as KindMapping<Kind> | undefined) ?? []);
}

/** Wrong passwords, change notices, and what the gateway itself says to the world. */
export async function gatewayRows({ config, mapping, open }: Checked): Promise<Row[]> {
  const { rows, ok, warn } = rowsOf('gateway');
  const wrong = await open
    .call('GET', 'wp/v2/types', {}, { credentials: basic('calendar-gateway-check', 'no such password') })
    .then(() => false)
    .catch((error: unknown) => {
      if (error instanceof UpstreamRefused) return true;
      throw error;
    });
  if (wrong) ok('wrong logins', 'are refused by the site on public reads too');
  else
    warn(
      'wrong logins',
      'read as nobody: WordPress answers 200 to a wrong password on public reads (the gateway itself checks the logins of its callers)',
      snippetAdvice(config.mapping),
    );
  const noticeUrl = `http://GATEWAY:${config.listen.adminPort}/-/changes`;
  if (config.notices.secret === undefined)
    warn(
      'notices',
      `none: a change made in wp-admin is seen within ${config.sync.intervalS} s`,
      `To see changes at once, set CALENDAR_NOTICE_SECRET and put the PHP file with the same secret into wp-content/mu-plugins/ of the site:\n  ${ownName()} snippet --mapping ${config.mapping} --notice-url ${noticeUrl} --notice-secret SECRET > calendar-gateway.php`,
    );
  if (config.publicUrl === undefined)
    warn(
      'public address',
      `${publicUrlOf(config)} is what links in answers begin with`,
      'Set CALENDAR_PUBLIC_URL to the address that callers use.',
    );
  else ok('public address', config.publicUrl);
  const { landing, documentation } = config.pages;
  ok(
    'pages',
    `calendar at / ${landing ? 'on' : 'off'}, documentation ${documentation ? 'on' : 'off'}; mapping ${mapping.name}`,
  );
  return rows;
}
