// What WordPress says about itself and about the caller: the site, an account, a collection's rules.

import { UpstreamAway, UpstreamRefused } from '../../errors.ts';
import { trimmedEnd } from '../../text/trim.ts';
import type { CallOptions, Native, Upstream } from '../port.ts';
import type { Call } from './calls.ts';
import { isNative, nativeOf, nativesOf, recordOr } from './refusals.ts';

/** Who, where and by which rules (upstream-wordpress 6: auth, time, discovery). */
export function createAccount(call: Call): Pick<Upstream, 'site' | 'account' | 'userNameOf' | 'facts'> {
  return {
    async site(options) {
      const query = { _fields: 'name,url,home,timezone_string,gmt_offset,namespaces' };
      const index = nativeOf(await call('GET', '', { query }, options));
      const zone = index.timezone_string;
      return {
        url: trimmedEnd(String(index.home ?? index.url ?? ''), '/'),
        name: String(index.name ?? ''),
        timezone: typeof zone === 'string' && zone !== '' ? zone : fixedOffset(Number(index.gmt_offset) || 0),
      };
    },

    async account(options) {
      const query = { context: 'edit', _fields: 'id,roles,capabilities' };
      const me = nativeOf(await call('GET', 'wp/v2/users/me', { query }, options));
      if (!Number.isSafeInteger(me.id) || Number(me.id) < 1)
        throw new UpstreamAway('not-json', 'The CMS did not say whose credentials these are.');
      const granted = Object.entries(recordOr(me.capabilities)).filter(([, is]) => is === true);
      return {
        userId: Number(me.id),
        roles: Array.isArray(me.roles) ? me.roles.map(String) : [],
        capabilities: new Set(granted.map(([name]) => name)),
      };
    },

    async userNameOf(email, options) {
      const query = { search: email, context: 'edit', _fields: 'username,email', per_page: 100 };
      try {
        const users = nativesOf(await call('GET', 'wp/v2/users', { query }, options));
        const name = users.find((user) => String(user.email).toLowerCase() === email.toLowerCase())?.username;
        return typeof name === 'string' ? name : undefined;
      } catch (error) {
        if (error instanceof UpstreamRefused) return undefined;
        throw error;
      }
    },

    async facts(base, options) {
      const [kind, rules] = await Promise.all([kindOf(call, base, options), rulesOf(call, base, options)]);
      return { ...rules, capabilities: capabilitiesOf(kind) };
    },
  };
}

/** `2` -> `+02:00`, `-3.5` -> `-03:30`: hours of a site that has no named zone. */
export function fixedOffset(hours: number): string {
  const minutes = Math.round(Math.abs(hours) * 60);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${hours < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** The post type or taxonomy that has this base. Capabilities are shown to editors alone, so nothing is known for others. */
async function kindOf(call: Call, base: string, options: CallOptions | undefined): Promise<Native | undefined> {
  for (const route of ['wp/v2/types', 'wp/v2/taxonomies']) {
    try {
      const kinds = nativeOf(await call('GET', route, { query: { context: 'edit' } }, options));
      const kind = Object.values(kinds)
        .map(recordOr)
        .find((each) => each.rest_base === base);
      if (kind) return kind;
    } catch (error) {
      if (!(error instanceof UpstreamRefused)) throw error;
    }
  }
  return undefined;
}

function capabilitiesOf(kind: Native | undefined): Record<string, string> {
  const named = Object.entries(recordOr(kind?.capabilities)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(named.map(([general, own]) => [general, GRANTED_AS[own] ?? own]));
}

/** WordPress's own taxonomies name capabilities that no role has: `map_meta_cap` turns them into these. */
const GRANTED_AS: Record<string, string> = {
  manage_post_tags: 'manage_categories',
  edit_post_tags: 'manage_categories',
  delete_post_tags: 'manage_categories',
  assign_post_tags: 'edit_posts',
  edit_categories: 'manage_categories',
  delete_categories: 'manage_categories',
  assign_categories: 'edit_posts',
};

/** Read from the collection's own description, `OPTIONS`: its arguments and its schema. */
async function rulesOf(call: Call, base: string, options: CallOptions | undefined) {
  const { json } = await call('OPTIONS', `wp/v2/${base}`, {}, options);
  // To OPTIONS of a route that is not there WordPress says yes, and nothing more.
  if (!isNative(json)) throw new UpstreamRefused(404, 'rest_no_route', `The CMS has no collection "${base}".`);
  const { endpoints, schema } = json;
  const argsOf = (method: string) =>
    recordOr(
      (Array.isArray(endpoints) ? endpoints : [])
        .map(recordOr)
        .find(({ methods }) => Array.isArray(methods) && methods.includes(method))?.args,
    );
  const statusItems = recordOr(recordOr(argsOf('GET').status).items).enum;
  const properties = recordOr(recordOr(schema).properties);
  return {
    statuses: Array.isArray(statusItems) ? statusItems.map(String) : [],
    writable: schema === undefined ? undefined : namesIn(properties, true),
    fields: schema === undefined ? undefined : namesIn(properties, false),
  };
}

function namesIn(properties: Native, onlyWritable: boolean): string[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const { readonly, properties: inner } = recordOr(property);
    if (onlyWritable && readonly === true) return [];
    const holdsFields = name === 'meta' || name === 'acf';
    return [name, ...(holdsFields ? Object.keys(recordOr(inner)).map((key) => `${name}.${key}`) : [])];
  });
}
