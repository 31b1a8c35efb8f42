// Reads a source once for a command, and words what the gateway leaves out or changes.

import { createSource } from '../cms/sources/create-source.ts';
import { READ_TIMEOUT_MS, type Remark, type SourceSnapshot } from '../cms/sources/source.ts';
import { sourceAddress } from '../config.ts';
import type { SourceSettings } from '../config-schema.ts';

/** @returns why it cannot be read, without the address, which may be a secret */
export async function readSource(
  settings: SourceSettings,
  allowPrivate: boolean,
  timezone: string,
): Promise<SourceSnapshot | string> {
  const source = createSource(settings, { allowPrivate, timezone: () => timezone });
  try {
    // Without validators there is always a snapshot.
    return (await source.read(undefined, AbortSignal.timeout(READ_TIMEOUT_MS)))!;
  } catch (error) {
    return String(error instanceof Error ? error.message : error).replaceAll(sourceAddress(settings), 'its address');
  }
}

/** `2 × no valid times (such as 1041)`. */
export const remarkText = ({ count, reason, example }: Remark): string =>
  `${count} × ${reason}${example === '' ? '' : ` (such as ${example})`}`;

export const SOURCE_ADVICE =
  'Open the address in a browser. A source in a private network needs "sync": { "privateSources": true } in the ' +
  'configuration, or CALENDAR_SYNC_PRIVATE_SOURCES=true.';
