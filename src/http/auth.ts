// Authentication: the CMS checks the credentials of a request, within the limit of failed logins. The result is cached
// for a minute under a keyed hash of the credentials.

import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Actor } from '../calendar/request.ts';
import type { Account, Cms, Login } from '../cms/port.ts';
import { type ApiError, CmsRejected } from '../errors.ts';
import { invalidCredentials, invalidNonce, tooManyLogins } from '../interface/errors.ts';
import type { ClientAddress } from './client-address.ts';
import { network48Of } from './client-limits.ts';
import { routeName } from './endpoints.ts';
import { type Attempt, accountKey, type LoginLimit, type Refusal } from './login-limit.ts';
import { READ_METHODS } from './read-request.ts';
import type { Middleware } from './state.ts';

const CACHED_MS = 60_000;
/** Rejected credentials may become valid at any time. */
const REJECTED_CACHED_MS = 5000;
const MAX_CACHED = 10_000;
const UNREADABLE = new CmsRejected('unauthenticated', 'These credentials cannot be read.');

/** Runs before the parameters are looked at: invalid credentials are an error on public reads too. */
export function auth(authenticator: Authenticator, clientAddress: ClientAddress): Middleware {
  return async function authMiddleware(ctx, next) {
    // The log names the route of a failed login, too.
    ctx.state.routeName = routeName(ctx.state.path, ctx.method);
    ctx.state.actor = await authenticator.authenticate({
      authorization: ctx.headers.authorization,
      nonce: (ctx.headers['x-wp-nonce'] ?? ctx.state.query._wpnonce) as string | undefined,
      address: clientAddress(ctx.req),
      isRead: READ_METHODS.has(ctx.method),
    });
    return next();
  };
}

interface AuthRequest {
  authorization: string | undefined;
  nonce: string | undefined;
  address: string;
  /** Of a method that changes nothing: after too many ignored tokens the request is anonymous, instead of 429. */
  isRead: boolean;
}

function anonymousActor({ nonce, address }: Pick<AuthRequest, 'nonce' | 'address'>): Actor {
  if (nonce !== undefined) throw invalidNonce();
  return { credentials: undefined, account: undefined, network: network48Of(address) };
}

/** Holds no credentials. `ignored`: to the CMS the caller is anonymous. `limited`: the CMS was not asked. */
type AuthResult =
  | { kind: 'accepted'; account: Account }
  | { kind: 'ignored' }
  | { kind: 'rejected'; error: ApiError }
  | ({ kind: 'limited' } & Refusal);

/** Remembers what the CMS said of credentials. If the CMS does not respond, the next request checks them again. */
export class Authenticator {
  readonly #cms: Pick<Cms, 'account' | 'readLogin'>;
  readonly #logins: Pick<LoginLimit, 'start'>;
  /** A `KeyObject`: Node would make one of plain bytes again for each request. */
  readonly #hashKey = createSecretKey(randomBytes(32));
  readonly #results: LRUCache<string, AuthResult, () => Promise<AuthResult>>;

  constructor(
    cms: Pick<Cms, 'account' | 'readLogin'>,
    logins: Pick<LoginLimit, 'start'>,
    clockMs = () => performance.now(),
  ) {
    this.#cms = cms;
    this.#logins = logins;
    this.#results = new LRUCache({
      ...{ max: MAX_CACHED, ttl: CACHED_MS, perf: { now: clockMs }, ignoreFetchAbort: true },
      // Concurrent requests with the same credentials share one check. Nothing is kept of one that fails.
      async fetchMethod(_hash, _known, { options, context: check }) {
        const startedMs = clockMs();
        const result = await check();
        // The minute begins before the CMS is asked: its answer may be of then.
        options.ttl = result.kind === 'rejected' ? REJECTED_CACHED_MS : Math.max(1, startedMs + CACHED_MS - clockMs());
        return result;
      },
    });
  }

  /** @throws ApiError 401 for invalid credentials, 403 for a nonce, 429 after too many failures; CmsUnavailable */
  async authenticate({ authorization, nonce, address, isRead }: AuthRequest): Promise<Actor> {
    const login = authorization === undefined ? undefined : this.#cms.readLogin(authorization);
    if (authorization === undefined || !login) return anonymousActor({ nonce, address });
    const hash = createHmac('sha256', this.#hashKey).update(authorization).digest('base64');
    // A token has no name: its hash tells whom `LoginLimit` trusts. Wrong tokens count for their address alone.
    const user = login.kind === 'token' ? hash : login.user;
    // The CMS might read another name, `anna` from `an<b>na`: failures would not count for her.
    if (user === undefined || accountKey(user) === undefined) throw invalidCredentials(UNREADABLE);
    const check = () => this.#check(authorization, login, user, address);
    const result = (await this.#results.fetch(hash, { context: check }))!;
    if (result.kind === 'limited') this.#results.delete(hash);
    if (result.kind === 'accepted') return { credentials: authorization, account: result.account };
    if (result.kind === 'rejected') throw result.error;
    if (result.kind === 'limited' && (result.reason === 'failed' || !isRead)) throw tooManyLogins(result.retryAfterS);
    return anonymousActor({ nonce, address });
  }

  async #check(credentials: string, { kind }: Login, user: string, address: string): Promise<AuthResult> {
    const attempt = await this.#logins.start(address, user, kind);
    if ('retryAfterS' in attempt) return { kind: 'limited', ...attempt };
    // If Redis does not count the outcome, the login has ended all the same.
    const end = (outcome: Parameters<Attempt['end']>[0]) => attempt.end(outcome).catch(() => undefined);
    // Guesses from many addresses must not take the connections of known users.
    const bulkhead = attempt.isTrusted ? 'callers' : 'logins';
    try {
      const account = await this.#cms.account({ credentials, bulkhead });
      await end('accepted');
      return { kind: 'accepted', account };
    } catch (error) {
      const isRejected = error instanceof CmsRejected && error.status < 500;
      const isIgnored = isRejected && error.kind === 'unknown-scheme';
      await end(isIgnored ? 'ignored' : isRejected ? 'failed' : 'unknown');
      if (!isRejected) throw error;
      return isIgnored ? { kind: 'ignored' } : { kind: 'rejected', error: invalidCredentials(error) };
    }
  }
}
