// The environment of live tests: URLs of gateway and site, and the site's users.

import type { Credentials, Role } from '../../sandbox/site.ts';

const requiredEnv = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: these tests are run by npm run test:live`);
  return value;
};

export const gatewayUrl = requiredEnv('LIVE_GATEWAY');
export const adminUrl = requiredEnv('LIVE_ADMIN');
export const siteUrl = requiredEnv('LIVE_SITE');
/** The site's folder on this machine. */
export const dataDir = requiredEnv('LIVE_DIR');
export const users = JSON.parse(requiredEnv('LIVE_USERS')) as Record<Role, Credentials>;

export const calendar = `${gatewayUrl}/calendar/events/v1`;

export interface LiveResponse<T> {
  status: number;
  headers: Headers;
  body: T;
}

/** Sends one request as a role, or anonymously; a body is sent as JSON. */
export async function request<T>(
  url: string,
  {
    as,
    method = 'GET',
    json,
    headers = {},
  }: { as?: string; method?: string; json?: unknown; headers?: Record<string, string> } = {},
): Promise<LiveResponse<T>> {
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

/** Retries until `condition` holds. Returns the time it took; throws after `limitMs`. */
export async function until(condition: () => Promise<boolean>, limitMs: number): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    if (await condition()) return performance.now() - startMs;
    if (performance.now() - startMs > limitMs) throw new Error(`not within ${limitMs} ms`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
