// Sends one request to a receiver: to public hosts only unless the operator allows others, without redirects, within
// limits of time and size.

import { Agent, request } from 'undici';
import {
  checkUrl,
  createCheckedLookup,
  isPublicAddress,
  PublicRequestError,
  resolveHost,
} from '../cms/public-request.ts';

export type ReceiverRequest = { method: 'GET' | 'POST'; headers: Record<string, string>; body: string | null };

/** Of an answer, whose text nobody needs: more than a line closes the connection. */
const MAX_ANSWER_BYTES = 4096;

/**
 * Connections to one receiver: a slow one keeps none from another.
 * @param timeoutMs for everything: DNS, connecting, the answer
 */
export function openReceiver(url: URL, allowPrivate: boolean, timeoutMs: number) {
  const isAllowed = (address: string) => allowPrivate || isPublicAddress(address);
  const lookup = createCheckedLookup(resolveHost, isPublicAddress);
  const agent = new Agent({ connections: 1, allowH2: false, connect: allowPrivate ? {} : { lookup } });

  /** The status, or a short reason for none. Never part of the address, whose path may be a secret. */
  async function send(sent: ReceiverRequest, stopping: AbortSignal): Promise<string> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([stopping, timeout]);
    try {
      checkUrl(url, true, isAllowed);
      const { statusCode, body } = await request(url, { ...sent, dispatcher: agent, signal });
      await body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
      return String(statusCode);
    } catch (error) {
      if (timeout.aborted) return 'timeout';
      if (error instanceof PublicRequestError) return 'no public address';
      return (error as NodeJS.ErrnoException).code ?? 'failed';
    }
  }

  return { send, close: () => agent.destroy() };
}
