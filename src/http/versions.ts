// Of several gateways: what an answer was made at, and a read that must not be older than another answer.

import type { Others } from '../calendar/backing.ts';
import { GatewayError } from '../errors.ts';

/** Sent back by whoever has to see at least what an earlier answer showed, from whichever gateway that was. */
export const MIN_VERSION = 'x-calendar-min-version';

/** Longest wait of such a read. */
const WAIT_MS = 2000;

/**
 * Names and values by turns; each name beside what an answer has of it anyway. A cache keeps what was asked with
 * a version apart from what was asked without.
 */
export const versionHeaders = (others: Others): string[] => [
  ...['X-Calendar-Version', others.version()],
  ...['Vary', 'X-Calendar-Min-Version'],
  ...['Access-Control-Expose-Headers', 'X-Calendar-Version'],
  ...['Access-Control-Allow-Headers', 'X-Calendar-Min-Version'],
];

/** Waits until this gateway shows what that version showed. Throws `GatewayError`: 400 for what is no version, 503 when it takes too long. */
export async function waitForVersion(others: Others, version: string): Promise<void> {
  const reached = await others.reached(version, WAIT_MS);
  if (reached === undefined) {
    throw new GatewayError(400, 'rest_invalid_version', 'X-Calendar-Min-Version takes what X-Calendar-Version gave.');
  }
  if (!reached) {
    const message = 'This gateway does not show what that version showed yet. Try again soon.';
    throw new GatewayError(503, 'calendar_behind', message, { headers: { 'Retry-After': '1' } });
  }
}
