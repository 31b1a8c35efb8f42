// A site opened for looking at: the port that the gateway uses, and single calls for what the port does not tell.

import { ConfigError, UpstreamRefused } from '../errors.ts';
import type { Site } from '../records.ts';
import { trimmedEnd } from '../text/trim.ts';
import { createClient } from '../upstream/client.ts';
import type { Credentials, Upstream } from '../upstream/port.ts';
import { type Call, createCall } from '../upstream/wordpress/calls.ts';
import { createDiscovery } from '../upstream/wordpress/discovery.ts';
import { createWordPress } from '../upstream/wordpress/wordpress.ts';

export interface OpenSite {
  url: string;
  credentials: Credentials;
  upstream: Upstream;
  /** A route of the REST API with the site's credentials (or others). */
  call: Call;
  close(): Promise<void>;
}

/** Nothing is asked before the first call. `url` is the site's address as a browser knows it. */
export function openSite(url: string, credentials: Credentials, limits: Record<string, number> = {}): OpenSite {
  const address = new URL(url);
  const observe = () => undefined;
  const upstream = createWordPress({ url: address, observe, limits });
  const client = createClient({ origin: address, observe, limits });
  const call = createCall(client, createDiscovery(client, address));
  return {
    url: trimmedEnd(url, '/'),
    credentials,
    upstream,
    call: (method, route, parts, options = {}) =>
      call(method, route, parts, 'credentials' in options ? options : { ...options, credentials }),
    async close() {
      await Promise.all([upstream.close(), client.close()]);
    },
  };
}

/**
 * What is wrong with the access to a site that answered 401 or 403.
 * @param withAccount whether credentials went along
 */
export function accessRefused({ status, code }: UpstreamRefused, withAccount: boolean, place: string): ConfigError {
  if (withAccount)
    return new ConfigError(
      place,
      `the site does not accept this user with this application password (${code})`,
      'Make an application password in wp-admin under Users > Profile (it is not the one for logging in), or leave user and password out to copy public records only.',
    );
  return new ConfigError(
    place,
    `the site's REST API answers only signed-in users (status ${status}, ${code})`,
    'Give a service account: a user and an application password of that user (wp-admin > Users > Profile).',
  );
}

/** Whether the site refused this account, or refused because no account was given. */
export const isAccessRefused = (error: unknown): error is UpstreamRefused =>
  error instanceof UpstreamRefused && (error.status === 401 || error.status === 403);

/** The site's own description; read with the service account if the site refuses anonymous readers. Throws `UpstreamRefused` and `UpstreamAway`. */
export async function siteFacts({ upstream, credentials }: Pick<OpenSite, 'upstream' | 'credentials'>): Promise<Site> {
  try {
    return await upstream.site();
  } catch (error) {
    if (credentials === undefined || !isAccessRefused(error)) throw error;
    return upstream.site({ credentials });
  }
}

/** The value, or `fallback` where the site refuses (404, 401 ...). What is no refusal is thrown on. */
export async function unlessRefused<T>(asked: Promise<T>, fallback: T): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof UpstreamRefused) return fallback;
    throw error;
  }
}

/** The `Authorization` header for a user and an application password. */
export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
