// Slows down the guessing of passwords and tokens: counts failed logins by the client's network and by the user's name.

import { createHmac, randomBytes } from 'node:crypto';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Login } from '../cms/port.ts';
import type { Config } from '../config-schema.ts';
import { type Counter, network48Of, type SharedCounters, wholeSeconds } from './client-limits.ts';

export interface Attempt {
  /** The user has logged in from this network within a day. */
  isTrusted: boolean;
  /** `ignored`: to the CMS the caller is anonymous, as with an old token. `unknown`: it gave no usable response. */
  end(outcome: 'accepted' | 'ignored' | 'failed' | 'unknown'): Promise<unknown>;
}

export interface Refusal {
  retryAfterS: number;
  /** Too many logins have ended so. */
  reason: 'failed' | 'ignored';
}

type FailureLimits = Pick<Config['limits'], 'failedLoginsPerAddress' | 'failedLoginsPerUser' | 'failedLoginWindowS'>;

interface Guess {
  network: string;
  /** A keyed hash of the user's name. */
  user: string;
  userInNetwork: string;
  isTrusted: boolean;
}

const DAY_S = 24 * 3600;

/**
 * A user who logged in from a network within a day is trusted there, and has a counter of their own.
 * A stranger who guesses the password of `anna` elsewhere does not lock her out at home.
 * Her neighbour behind the same address does not, either. Her success does not reset the counters of others.
 */
export class LoginLimit {
  readonly #limits: FailureLimits;
  readonly #hashKey: Buffer;
  readonly #byNetwork: Counter;
  readonly #byUser: Counter;
  /** Failed passwords of trusted users; `#byNetwork` and `#byUser` count those of strangers. */
  readonly #byUserInNetwork: Counter;
  readonly #ignoredTokens: Counter;
  /** Counts nothing: has the key `userInNetwork` for a day if the user is trusted there. */
  readonly #trusted: Counter;

  constructor(limits: FailureLimits, shared?: SharedCounters) {
    const { failedLoginsPerAddress, failedLoginsPerUser, failedLoginWindowS } = limits;
    const counter = (name: string, points: number, duration = failedLoginWindowS): Counter =>
      shared?.count(name, points, duration) ?? new RateLimiterMemory({ points, duration });
    this.#limits = limits;
    this.#hashKey = shared?.hashKey ?? randomBytes(32);
    this.#byNetwork = counter('logins-address', failedLoginsPerAddress);
    this.#byUser = counter('logins-user', failedLoginsPerUser);
    this.#byUserInNetwork = counter('logins-both', failedLoginsPerUser);
    this.#ignoredTokens = counter('ignored-address', failedLoginsPerAddress);
    this.#trusted = counter('trusted', 1, DAY_S);
  }

  async start(address: string, name: string, kind: Login['kind'] = 'password'): Promise<Attempt | Refusal> {
    const network = network48Of(address);
    const hmac = createHmac('sha256', this.#hashKey);
    const user = hmac.update(accountKey(name) ?? name).digest('base64url');
    const userInNetwork = `${network} ${user}`;
    const guess = { network, user, userInNetwork, isTrusted: (await this.#trusted.get(userInNetwork)) !== null };
    return kind === 'token' ? this.#startToken(guess) : this.#startPassword(guess);
  }

  /** The attempt counts as a failure until it ends, so that concurrent guesses gain nothing. */
  async #startPassword({ network, user, userInNetwork, isTrusted }: Guess): Promise<Attempt | Refusal> {
    const { failedLoginsPerAddress, failedLoginsPerUser } = this.#limits;
    const counts = isTrusted
      ? [{ counter: this.#byUserInNetwork, key: userInNetwork, limit: failedLoginsPerUser }]
      : [
          { counter: this.#byNetwork, key: network, limit: failedLoginsPerAddress },
          { counter: this.#byUser, key: user, limit: failedLoginsPerUser },
        ];
    const takePenaltiesBack = () => Promise.all(counts.map(({ counter, key }) => counter.reward(key)));
    const results = await Promise.all(counts.map(({ counter, key }) => counter.penalty(key)));
    const exceeded = results.filter(({ consumedPoints }, index) => consumedPoints > counts[index]!.limit);
    if (exceeded.length > 0) {
      await takePenaltiesBack();
      const waitMs = Math.max(...exceeded.map(({ msBeforeNext }) => msBeforeNext));
      return { retryAfterS: wholeSeconds(waitMs), reason: 'failed' };
    }
    return {
      isTrusted,
      end: async (outcome) => {
        if (outcome !== 'failed') await takePenaltiesBack();
        if (outcome !== 'accepted') return;
        await Promise.all([this.#trusted.set(userInNetwork, 1, DAY_S), this.#byUserInNetwork.delete(userInNetwork)]);
      },
    };
  }

  /**
   * The attempt counts only when it ends: many requests with tokens run at a time, and must not block passwords.
   * Guesses at the same time all get through, but a token is too long to be guessed.
   */
  async #startToken({ network, userInNetwork, isTrusted }: Guess): Promise<Attempt | Refusal> {
    const { failedLoginsPerAddress } = this.#limits;
    if (!isTrusted) {
      const [failed, ignored] = await Promise.all([this.#byNetwork.get(network), this.#ignoredTokens.get(network)]);
      for (const result of [failed, ignored])
        if (result && result.consumedPoints >= failedLoginsPerAddress)
          return { retryAfterS: wholeSeconds(result.msBeforeNext), reason: result === ignored ? 'ignored' : 'failed' };
    }
    return {
      isTrusted,
      end: async (outcome) => {
        if (outcome === 'accepted') await this.#trusted.set(userInNetwork, 1, DAY_S);
        if (outcome === 'ignored') await this.#ignoredTokens.penalty(network);
        if (outcome === 'failed') await this.#byNetwork.penalty(network);
      },
    };
  }
}

const MAX_NAME_LENGTH = 250;
/** Control characters, characters of HTML tags, and malformed UTF-8. */
const INVALID_NAME = /[\p{Cc}<>\uFFFD]/u;

/**
 * The name under which failed logins of a user count: `Anna ` as `anna`. Undefined for one from which WordPress removes
 * characters, so that it might be the name of another user: `an<b>na`.
 */
export function accountKey(user: string): string | undefined {
  return user.length > MAX_NAME_LENGTH || INVALID_NAME.test(user) ? undefined : user.trim().toLowerCase();
}
