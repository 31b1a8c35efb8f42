// How much one caller may ask: requests of an address, and failed logins of an address and a user.

import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { GatewayError } from '../errors.ts';

export interface AddressLimit {
  /** Counts one request. Throws `GatewayError` 429 with `Retry-After` when the address has used up its minute. */
  admit(ctx: Context): Promise<void>;
}

/** So many requests a minute from one address; every answer says how many are left (RateLimit header fields, draft 10). */
export function createAddressLimit({ requestsPerMinute }: { requestsPerMinute: number }): AddressLimit {
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: 60 });
  const policy = `"minute";q=${requestsPerMinute};w=60`;
  return {
    async admit(ctx) {
      try {
        const { remainingPoints, msBeforeNext } = await limiter.consume(ctx.ip);
        ctx.set('RateLimit', `"minute";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1000)}`);
      } catch (error) {
        if (error instanceof Error) throw error;
        const seconds = Math.ceil((error as RateLimiterRes).msBeforeNext / 1000);
        throw new GatewayError(429, 'rest_too_many_requests', 'Too many requests from this address. Try again later.', {
          headers: {
            'Retry-After': String(seconds),
            RateLimit: `"minute";r=0;t=${seconds}`,
            'RateLimit-Policy': policy,
          },
        });
      }
    },
  };
}

export interface LoginLimit {
  allowed(address: string, user: string): Promise<{ ok: true } | { ok: false; retryAfterS: number }>;
  failed(address: string, user: string): Promise<void>;
  succeeded(address: string, user: string): Promise<void>;
}

export interface LoginLimitOptions {
  failedLoginsPerAddress: number;
  failedLoginsPerUser: number;
  failedLoginWindowS: number;
}

/** Slows guessing at the CMS's passwords through the gateway. User names are kept as hashes; a success forgets the user's failures. */
export function createLoginLimit(options: LoginLimitOptions): LoginLimit {
  const duration = options.failedLoginWindowS;
  const addresses = new RateLimiterMemory({ keyPrefix: 'address', points: options.failedLoginsPerAddress, duration });
  const users = new RateLimiterMemory({ keyPrefix: 'user', points: options.failedLoginsPerUser, duration });
  const hashed = (user: string) => createHash('sha256').update(user.toLowerCase()).digest('base64url');

  return {
    async allowed(address, user) {
      const found = await Promise.all([addresses.get(address), users.get(hashed(user))]);
      const spent = found.filter((one): one is RateLimiterRes => one !== null && one.remainingPoints <= 0);
      if (spent.length === 0) return { ok: true };
      return { ok: false, retryAfterS: Math.ceil(Math.max(...spent.map(({ msBeforeNext }) => msBeforeNext)) / 1000) };
    },
    async failed(address, user) {
      // A failure beyond the limit is refused by `allowed` before it comes here; the rejection itself says nothing new.
      await Promise.allSettled([addresses.consume(address), users.consume(hashed(user))]);
    },
    async succeeded(_address, user) {
      await users.delete(hashed(user));
    },
  };
}
