// The errors of the gateway: what a caller may be told, with the few kinds that code branches on.

export interface GatewayErrorOptions {
  /** Goes into the answer's `data` beside `status`. */
  data?: Record<string, unknown>;
  /** Keys of the answer beside `code`, `message` and `data`. */
  beside?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** The one kind of answer that has no `data` at all. */
  withoutData?: boolean;
  cause?: unknown;
}

/** Anything that a caller may be told: an interface error code, an HTTP status and a sentence. The cause is for the log alone. */
export class GatewayError extends Error {
  readonly status: number;
  readonly code: string;
  readonly data: Record<string, unknown>;
  readonly beside: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly withoutData: boolean;

  constructor(status: number, code: string, message: string, options: GatewayErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'GatewayError';
    this.status = status;
    this.code = code;
    this.data = options.data ?? {};
    this.beside = options.beside ?? {};
    this.headers = options.headers ?? {};
    this.withoutData = options.withoutData ?? false;
  }
}

/** The CMS answered, and the answer is no: its status, code, message and data, still in its own words. */
export class UpstreamRefused extends Error {
  readonly status: number;
  readonly code: string;
  readonly data: Record<string, unknown>;

  constructor(status: number, code: string, message: string, data: Record<string, unknown> = {}) {
    super(message);
    this.name = 'UpstreamRefused';
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

export type AwayReason =
  | 'refused'
  | 'timeout'
  | 'reset'
  | 'status'
  | 'not-json'
  /** Rows without the fields that were asked for. */
  | 'incomplete'
  | 'too-large'
  | 'busy'
  | 'breaker-open';

/** The CMS gave no usable answer. `outcomeUnknown`: a write may or may not have been carried out. `status`: the HTTP status, where one came. */
export class UpstreamAway extends Error {
  readonly reason: AwayReason;
  readonly retryAfterS: number;
  readonly outcomeUnknown: boolean;
  readonly status: number | undefined;
  /** Whether `retryAfterS` was said by somebody who knows, rather than assumed. */
  readonly saysWhen: boolean;

  constructor(
    reason: AwayReason,
    message: string,
    options: { retryAfterS?: number; outcomeUnknown?: boolean; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'UpstreamAway';
    this.reason = reason;
    this.retryAfterS = options.retryAfterS ?? 5;
    this.outcomeUnknown = options.outcomeUnknown ?? false;
    this.status = options.status;
    this.saysWhen = options.retryAfterS !== undefined;
  }
}

/** The operator's mistake, found before anything is served: which key or place, why, and what to do. Ends the process with exit code 2. */
export class ConfigError extends Error {
  readonly place: string;
  readonly advice: string;

  constructor(place: string, reason: string, advice = '') {
    super(`${place}: ${reason}${advice ? `\n  ${advice}` : ''}`);
    this.name = 'ConfigError';
    this.place = place;
    this.advice = advice;
  }
}

/** Why a JSON file cannot be taken: `error` is what reading or parsing it threw. Its contents are not quoted, which may be secret. */
export function unreadable(place: string, error: unknown): ConfigError {
  if (error instanceof SyntaxError) {
    const at = /line \d+ column \d+/.exec(error.message)?.[0];
    return new ConfigError(place, `is not JSON${at ? `: ${at}` : ''}`, 'The file has to hold one JSON object.');
  }
  const { code } = error as NodeJS.ErrnoException;
  return new ConfigError(place, `cannot be read (${code ?? 'unknown reason'})`, 'Check the path and who may read it.');
}

/**
 * The replica could not do what was asked of it. `damaged`: its file is corrupt; `unwritable`: the disk is full, or may not be written;
 * `closed`: a new one is replacing it. Callers get 503: neither they nor the CMS caused any of these.
 */
export class ReplicaFailure extends Error {
  readonly reason: 'damaged' | 'unwritable' | 'closed';

  constructor(reason: ReplicaFailure['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ReplicaFailure';
    this.reason = reason;
  }
}
