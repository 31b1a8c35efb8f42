// What live tests are told by the runner: where the gateway and the site are, and who may do what there.

import type { Credentials, Role } from '../../sandbox/site.ts';

const told = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: these tests are run by npm run test:live`);
  return value;
};

export const gatewayUrl = told('LIVE_GATEWAY');
export const adminUrl = told('LIVE_ADMIN');
export const siteUrl = told('LIVE_SITE');
/** The site's folder on this machine. */
export const dataDir = told('LIVE_DIR');
export const users = JSON.parse(told('LIVE_USERS')) as Record<Role, Credentials>;

export const calendar = `${gatewayUrl}/calendar/events/v1`;

export interface Answered<T> {
  status: number;
  headers: Headers;
  body: T;
}

/** One request, as a role or as nobody; a body is sent as JSON. */
export async function ask<T>(
  url: string,
  {
    as,
    method = 'GET',
    json,
    headers = {},
  }: { as?: string; method?: string; json?: unknown; headers?: Record<string, string> } = {},
): Promise<Answered<T>> {
  const { user, applicationPassword } = (as ? users[as as Role] : undefined) ?? {};
  const response = await fetch(url, {
    method,
    headers: {
      ...(as ? { authorization: `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}` } : {}),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as T };
}

/** Asks again until `right` holds. Resolves with the time it took; throws when it never did. */
export async function until(right: () => Promise<boolean>, limitMs: number): Promise<number> {
  const begun = performance.now();
  for (;;) {
    if (await right()) return performance.now() - begun;
    if (performance.now() - begun > limitMs) throw new Error(`not within ${limitMs} ms`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
