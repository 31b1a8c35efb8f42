// The limit of failed logins, by client address and by user name.

import { createHmac, randomBytes } from 'node:crypto';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Login } from '../cms/port.ts';
import type { Config } from '../config-schema.ts';
import { wideNetworkOf } from './client-address.ts';
import { type Counter, type SharedCounters, wholeSeconds } from './rate-limit.ts';

/** The CMS may check the credentials now. */
export interface Attempt {
  /** The user has logged in from this address within a day. */
  isTrusted: boolean;
  /** `ignored`: as an unknown token. `unknown`: the CMS gave no usable response. */
  end(outcome: 'accepted' | 'ignored' | 'failed' | 'unknown'): Promise<unknown>;
}

/** `isIgnored`: the reason is that the CMS has ignored too many tokens from this address. */
export interface Refusal {
  retryAfterS: number;
  isIgnored: boolean;
}

export interface LoginLimit {
  /** A password counts as a failure until its attempt ends, so that concurrent guesses gain nothing. */
  start(address: string, user: string, kind?: Login['kind']): Promise<Attempt | Refusal>;
}

type FailureLimits = Pick<Config['limits'], 'failedLoginsPerAddress' | 'failedLoginsPerUser' | 'failedLoginWindowS'>;

const DAY_S = 24 * 3600;

/**
 * Slows down password guessing through the gateway. A user who logged in from an address within a day has a
 * counter of their own there: guesses from elsewhere and a neighbour's failures do not lock them out, and
 * their success does not reset the counters of others. A counter's key is a keyed hash of the name.
 */
export function createLoginLimit(options: FailureLimits, shared?: SharedCounters): LoginLimit {
  const { failedLoginsPerAddress, failedLoginsPerUser, failedLoginWindowS } = options;
  const key = shared?.key ?? randomBytes(32);
  const counter = (name: string, points: number, duration = failedLoginWindowS): Counter =>
    shared?.count(name, points, duration) ?? new RateLimiterMemory({ points, duration });
  const byAddress = counter('logins-address', failedLoginsPerAddress);
  const byUser = counter('logins-user', failedLoginsPerUser);
  const byTrusted = counter('logins-both', failedLoginsPerUser);
  const ignoredTokens = counter('ignored-address', failedLoginsPerAddress);
  const trusted = counter('trusted', 1, DAY_S);

  /** Counts nothing until the attempt ends: running tokens must not block passwords. */
  async function startToken(network: string, end: Attempt['end']): Promise<Attempt | Refusal> {
    const [failures, ignored] = await Promise.all([byAddress.get(network), ignoredTokens.get(network)]);
    for (const result of [failures, ignored])
      if (result && result.consumedPoints >= failedLoginsPerAddress)
        return { retryAfterS: wholeSeconds(result.msBeforeNext), isIgnored: result === ignored };
    return { isTrusted: false, end };
  }

  return {
    async start(address, user, kind = 'password') {
      const network = wideNetworkOf(address);
      const name = createHmac('sha256', key)
        .update(accountKey(user) ?? user)
        .digest('base64url');
      const both = `${network} ${name}`;
      const isTrusted = (await trusted.get(both)) !== null;
      const trust = () => trusted.set(both, 1, DAY_S);
      if (kind === 'token') {
        const end: Attempt['end'] = async (outcome) => {
          if (outcome === 'accepted') return trust();
          if (outcome === 'ignored') return ignoredTokens.penalty(network);
          return outcome === 'failed' && byAddress.penalty(network);
        };
        return isTrusted ? { isTrusted, end } : startToken(network, end);
      }

      const counts = isTrusted
        ? [{ count: byTrusted, of: both, points: failedLoginsPerUser }]
        : [
            { count: byAddress, of: network, points: failedLoginsPerAddress },
            { count: byUser, of: name, points: failedLoginsPerUser },
          ];
      const giveBack = () => Promise.all(counts.map(({ count, of }) => count.reward(of)));
      const results = await Promise.all(counts.map(({ count, of }) => count.penalty(of)));
      const over = results.filter(({ consumedPoints }, i) => consumedPoints > counts[i]!.points);
      if (over.length > 0) {
        await giveBack();
        return { retryAfterS: wholeSeconds(Math.max(...over.map((each) => each.msBeforeNext))), isIgnored: false };
      }
      return {
        isTrusted,
        async end(outcome) {
          if (outcome === 'failed') return undefined;
          await giveBack();
          return outcome === 'accepted' && Promise.all([trust(), byTrusted.delete(both)]);
        },
      };
    },
  };
}

const MAX_NAME_LENGTH = 250;
/** Control characters, characters of HTML tags, and malformed UTF-8. */
const INVALID_NAME = /[\p{Cc}<>\uFFFD]/u;

/**
 * The name under which failed logins of a user count: in lower case. Undefined for one from which WordPress removes
 * characters, so that it might be the name of another user.
 */
export function accountKey(user: string): string | undefined {
  return user.length > MAX_NAME_LENGTH || INVALID_NAME.test(user) ? undefined : user.trim().toLowerCase();
}
