// The gateway's error classes: API errors for clients, and the failures that code branches on.

export interface ApiErrorOptions {
  /** Merged into `data` of the error body, beside `status`. */
  data?: Record<string, unknown>;
  /** Top-level keys of the error body beside `code`, `message` and `data`. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Leaves `data` out of the error body (only `rest_callback_invalid`). */
  omitData?: boolean;
  cause?: unknown;
}

/** An error that a client gets: HTTP status, error code and message. `cause` goes to the log only. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly data: Record<string, unknown>;
  readonly extra: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly omitData: boolean;

  constructor(status: number, code: string, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.data = options.data ?? {};
    this.extra = options.extra ?? {};
    this.headers = options.headers ?? {};
    this.omitData = options.omitData ?? false;
  }
}

/** The CMS responded with an error: its status, code, message and data, not yet mapped to an API error. */
export class CmsRejected extends Error {
  readonly status: number;
  readonly code: string;
  readonly data: Record<string, unknown>;

  constructor(status: number, code: string, message: string, data: Record<string, unknown> = {}) {
    super(message);
    this.name = 'CmsRejected';
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

export type UnavailableReason =
  | 'refused'
  | 'timeout'
  | 'reset'
  | 'status'
  | 'not-json'
  /** Records lack fields that the request asked for. */
  | 'incomplete'
  | 'too-large'
  | 'busy'
  | 'breaker-open';

/**
 * The CMS gave no usable response. `outcomeUnknown`: the CMS may or may not have executed the write. `status`: the HTTP status, if the CMS
 * sent one.
 */
export class CmsUnavailable extends Error {
  readonly reason: UnavailableReason;
  readonly retryAfterS: number;
  readonly outcomeUnknown: boolean;
  readonly status: number | undefined;
  /** True if the CMS or the circuit breaker gave `retryAfterS`; otherwise it is the default. */
  readonly hasRetryAfter: boolean;

  constructor(
    reason: UnavailableReason,
    message: string,
    options: { retryAfterS?: number | undefined; outcomeUnknown?: boolean; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'CmsUnavailable';
    this.reason = reason;
    this.retryAfterS = options.retryAfterS ?? 5;
    this.outcomeUnknown = options.outcomeUnknown ?? false;
    this.status = options.status;
    this.hasRetryAfter = options.retryAfterS !== undefined;
  }
}

/** A mistake in the operator's configuration: its location, the reason and the remedy. Ends the process with exit code 2. */
export class ConfigError extends Error {
  readonly location: string;
  readonly remedy: string;

  constructor(location: string, reason: string, remedy = '') {
    super(`${location}: ${reason}${remedy ? `\n  ${remedy}` : ''}`);
    this.name = 'ConfigError';
    this.location = location;
    this.remedy = remedy;
  }
}

/** The error for a JSON file that cannot be read or parsed. Does not quote the contents, which may be secret. */
export function unreadableFile(location: string, error: unknown): ConfigError {
  if (error instanceof SyntaxError) {
    const position = /line \d+ column \d+/.exec(error.message)?.[0];
    return new ConfigError(
      location,
      `is not JSON${position ? `: ${position}` : ''}`,
      'The file must contain one JSON object.',
    );
  }
  const { code } = error as NodeJS.ErrnoException;
  return new ConfigError(
    location,
    `cannot be read (${code ?? 'unknown reason'})`,
    'Check the path and who may read it.',
  );
}

/**
 * The replica failed. `damaged`: its file is corrupt. `unwritable`: the disk is full or read-only. `closed`: a new replica is replacing it.
 * Clients get 503.
 */
export class ReplicaError extends Error {
  readonly reason: 'damaged' | 'unwritable' | 'closed';

  constructor(reason: ReplicaError['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ReplicaError';
    this.reason = reason;
  }
}
