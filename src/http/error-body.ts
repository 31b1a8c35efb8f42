// Any thrown thing as the interface's error body: callers hear what was meant for them, the cause stays in the log.

import { away, translate } from '../calendar/translate.ts';
import { GatewayError, ReplicaFailure, UpstreamAway, UpstreamRefused } from '../errors.ts';

export interface ErrorAnswer {
  status: number;
  body: Record<string, unknown>;
  headers: Record<string, string>;
}

/** The general failure: something here went wrong that no caller can mend. */
const INTERNAL: ErrorAnswer = {
  status: 500,
  body: { code: 'internal_server_error', message: 'The gateway could not answer this request.', data: { status: 500 } },
  headers: {},
};

/** What a caller is told. `unexpected`: nobody foresaw it, so it belongs in the log. */
export function errorAnswer(error: unknown): ErrorAnswer & { unexpected: boolean } {
  if (error instanceof UpstreamAway) return errorAnswer(away(error));
  if (error instanceof UpstreamRefused) return errorAnswer(translate(error, { kind: 'event', anonymous: false }));
  // Told in the log where it is noticed: once, not with every request.
  if (error instanceof ReplicaFailure) return { ...errorAnswer(replicaUnavailable(error)), unexpected: false };
  if (error instanceof GatewayError) {
    const { code, message, data, beside, status, headers, withoutData } = error;
    return {
      status,
      body: { code, message, ...(withoutData ? {} : { data: { status, ...data } }), ...beside },
      headers,
      unexpected: status >= 500 && status !== 503,
    };
  }
  const known = fromKoa(error);
  return known ? { ...known, unexpected: false } : { ...INTERNAL, unexpected: true };
}

const REPLICA_RETRY_S = 5;

const replicaUnavailable = ({ reason }: ReplicaFailure): GatewayError =>
  new GatewayError(
    503,
    'calendar_replica_unavailable',
    reason === 'unwritable'
      ? 'This calendar cannot store anything at the moment, so that nothing was changed. Try again shortly.'
      : 'This calendar is rebuilding its data. Try again shortly.',
    { data: { reason }, headers: { 'Retry-After': String(REPLICA_RETRY_S) } },
  );

/** Refusals of Koa and its parts, which carry a status of their own: too large a body, a broken encoding. */
function fromKoa(error: unknown): ErrorAnswer | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  const { status } = error;
  if (status < 400 || status > 499) return undefined;
  const [code, message] =
    status === 413
      ? ['rest_body_too_large', 'The body is larger than this gateway accepts.']
      : ['rest_bad_request', 'The request could not be read.'];
  return { status, body: { code, message, data: { status } }, headers: {} };
}
