// The environment of live tests: URLs of gateway and site, and the site's users.

import type { Credentials, Role } from '../../sandbox/site.ts';
import { basicAuth, type JsonRequest, type JsonResponse, sendJson } from './json-client.ts';

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

/** Sends one request as a role, or anonymously; a body is sent as JSON. */
export const request = <T>(
  url: string,
  { as, ...options }: Omit<JsonRequest, 'authorization'> & { as?: Role } = {},
): Promise<JsonResponse<T>> => sendJson<T>(url, { ...options, authorization: as && basicAuth(users[as]) });
