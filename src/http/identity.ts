// Which credentials came in, and whose they are: asked of the CMS once, kept a minute under a keyed hash, never the credentials themselves.

import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { credentialsRefused } from '../calendar/translate.ts';
import { ANONYMOUS, type Caller } from '../calendar/visibility.ts';
import { GatewayError, UpstreamRefused } from '../errors.ts';
import type { Account, Credentials, LaneName, Upstream } from '../upstream/port.ts';
import { type LoginLimit, networkOf } from './limits.ts';
import { accountOf, basicUser } from './login-names.ts';

const KEPT_MS = 60_000;
/** Wrong credentials may be mended at any moment. */
const REFUSED_KEPT_MS = 5000;
const MAX_KEPT = 10_000;
/** An account has few e-mail addresses, and they change rarely. */
const EMAIL_KEPT_MS = 10 * 60_000;
const UNREADABLE = new UpstreamRefused(401, 'incorrect_password', 'These credentials cannot be read.');

export interface Identity {
  /** @throws GatewayError 401 for wrong credentials, 403 for a bad nonce, 429 after too many failures; UpstreamAway */
  callerOf(request: { authorization: string | undefined; nonce: string | undefined; address: string }): Promise<Caller>;
}

/** Without the credentials: those are the request's own, and go with it. */
type Found = { account: Account } | { refused: GatewayError };

/**
 * Asks the CMS once for all requests that bring the same credentials within a minute; after a failure to answer, the next one asks again.
 * Every answer counts with `logins`, and nothing is asked for whoever failed too often there.
 */
export function createIdentity({
  upstream,
  service,
  logins,
  clockMs = () => performance.now(),
}: {
  upstream: Upstream;
  /** The service account, which says whose an e-mail address is; without one, its failures count under the address. */
  service?: Credentials;
  logins: LoginLimit;
  /** Milliseconds of a clock that never goes back. */
  clockMs?: () => number;
}): Identity {
  const key = randomBytes(32);
  const kept = new LRUCache<string, Promise<Found>>({ max: MAX_KEPT, ttl: KEPT_MS, perf: { now: clockMs } });
  /** User names by e-mail address, as far as failed logins asked for them. */
  const names = new LRUCache<string, string>({ max: MAX_KEPT, ttl: EMAIL_KEPT_MS, perf: { now: clockMs } });
  let purgedMs = 0;

  /** The name under which failures of this user count: WordPress finds an account by its e-mail address as well. */
  async function countedName(user: string, share: string): Promise<string> {
    const email = user.trim().toLowerCase();
    const known = names.get(email);
    if (known !== undefined) return known;
    if (service === undefined || !email.includes('@')) return user;
    const options = { credentials: service, lane: 'logins', share } as const;
    const name = (await upstream.userNameOf?.(email, options).catch(() => undefined)) ?? user;
    names.set(email, name);
    return name;
  }

  /** What is over its time would stay until it is asked for, and nobody asks for a wrong guess again. */
  function purge(): void {
    const nowMs = clockMs();
    if (nowMs - purgedMs < REFUSED_KEPT_MS) return;
    purgedMs = nowMs;
    kept.purgeStale();
  }

  async function ask(credentials: string, lane: LaneName, share: string): Promise<Found> {
    try {
      return { account: await upstream.account({ credentials, lane, share }) };
    } catch (error) {
      if (!(error instanceof UpstreamRefused) || error.status >= 500) throw error;
      return { refused: credentialsRefused(error) };
    }
  }

  return {
    async callerOf({ authorization, nonce, address }) {
      const basic = basicUser(authorization);
      if (basic === undefined) {
        if (nonce !== undefined) throw new GatewayError(403, 'rest_cookie_invalid_nonce', 'Cookie check failed');
        return { ...ANONYMOUS, network: networkOf(address) };
      }
      const { user } = basic;
      // The CMS might read them as another account's: nothing that could be counted is asked of it.
      if (user === undefined || accountOf(user) === undefined) throw credentialsRefused(UNREADABLE);
      const hash = createHmac('sha256', key).update(authorization!).digest('base64');
      let found = kept.get(hash);
      if (!found) {
        const name = names.get(user.trim().toLowerCase()) ?? user;
        const allowed = await logins.allowed(address, name);
        if (!allowed.ok) {
          throw new GatewayError(429, 'rest_too_many_logins', 'Too many failed logins. Try again later.', {
            headers: { 'Retry-After': String(allowed.retryAfterS) },
          });
        }
        purge();
        // Guesses from many addresses must not use up the connections of known callers.
        found = ask(authorization!, allowed.trusted ? 'callers' : 'logins', networkOf(address));
        kept.set(hash, found);
        found
          .then(
            async (result) => {
              if ('account' in result) return logins.succeeded(address, name);
              kept.set(hash, found!, { ttl: REFUSED_KEPT_MS });
              return logins.failed(address, await countedName(user, networkOf(address)));
            },
            () => {
              kept.delete(hash);
              return logins.unanswered(address, name);
            },
          )
          // A count that cannot be kept must not end the process.
          .catch(() => {});
      }
      const result = await found;
      if ('refused' in result) throw result.refused;
      return { credentials: authorization, account: result.account };
    },
  };
}
