// The gateway's error classes: API errors for clients, and the failures that code branches on.

type ApiErrorOptions = Partial<Pick<ApiError, 'data' | 'extra' | 'headers' | 'omitData' | 'cause'>>;

/** An error that a client gets: HTTP status, error code and message. The log and `mayHaveWritten` get `cause`. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Merged into `data` of the error body, beside `status`. */
  readonly data: Record<string, unknown>;
  /** Top-level keys of the error body beside `code`, `message` and `data`. */
  readonly extra: Record<string, unknown>;
  readonly headers: Record<string, string>;
  /** Leaves `data` out of the error body (only `rest_callback_invalid`). */
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

/**
 * The kinds of rejections, in the gateway's terms, and the HTTP status that each usually has. Each adapter translates
 * the errors of its CMS into these kinds.
 */
export const USUAL_STATUS = {
  /** The CMS itself says that there is no such record. Another 404, as of a proxy, is `failed`. */
  'not-found': 404,
  /** The record exists, and this caller may not see it. */
  'not-visible': 403,
  /** The CMS, or something in front of it, does not let this caller do that. */
  forbidden: 403,
  /** The credentials are wrong: `fields` names the part (`username`, `email`), if the CMS tells it. */
  unauthenticated: 401,
  /** The CMS ignores credentials of this scheme: for it, the caller is anonymous. */
  'unknown-scheme': 401,
  /** The CMS has no such collection, as when a plugin is inactive. It does not mean that a record is missing. */
  'no-collection': 404,
  /** `fields` are invalid, if the CMS names them. */
  invalid: 400,
  /** `fields` belong to another record: to `existingId`, if the CMS names it. */
  conflict: 400,
  'in-trash': 410,
  'no-trash': 501,
  failed: 500,
};
export type RejectionKind = keyof typeof USUAL_STATUS;

/** Whether a failed call has changed something in the CMS. */
export type Written = 'no' | 'yes' | 'unknown';

export type RejectionOptions = Partial<Pick<CmsRejected, 'status' | 'code' | 'fields' | 'existingId' | 'written'>>;

/** The CMS responded with an error, not yet mapped to an API error. `message` is in the CMS's words. */
export class CmsRejected extends Error {
  readonly kind: RejectionKind;
  readonly status: number;
  /** The CMS's own name for the error: for messages, never for decisions. */
  readonly code: string;
  /** Locations in the CMS record (`meta.cost`, `title`). Of `unauthenticated`: `username` or `email`. */
  readonly fields: readonly string[];
  readonly existingId: number | undefined;
  /** Default `no`. A read never writes. */
  readonly written: Written;

  constructor(kind: RejectionKind, message: string, options: RejectionOptions = {}) {
    super(message);
    this.name = 'CmsRejected';
    this.kind = kind;
    this.status = options.status ?? USUAL_STATUS[kind];
    this.code = options.code ?? kind;
    this.fields = options.fields ?? [];
    this.existingId = options.existingId;
    this.written = options.written ?? 'no';
  }

  /** The CMS wants another account, or one at all. */
  get refusesAccess(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** For `catch`: handles what the CMS has rejected, and throws every other error. */
export const ifRejected =
  <T>(handle: (rejection: CmsRejected) => T) =>
  (error: unknown): T => {
    if (error instanceof CmsRejected) return handle(error);
    throw error;
  };

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

/** The CMS gave no usable response. `outcomeUnknown`: it may have executed the write. `status`: if it sent one. */
export class CmsUnavailable extends Error {
  readonly reason: UnavailableReason;
  /** If the CMS or the circuit breaker says one. */
  readonly retryAfterS: number | undefined;
  readonly outcomeUnknown: boolean;
  readonly status: number | undefined;

  constructor(
    reason: UnavailableReason,
    message: string,
    options: { retryAfterS?: number | undefined; outcomeUnknown?: boolean; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'CmsUnavailable';
    this.reason = reason;
    this.retryAfterS = options.retryAfterS;
    this.outcomeUnknown = options.outcomeUnknown ?? false;
    this.status = options.status;
  }
}

/**
 * The CMS redirects where the gateway does not follow: to another origin, which must not get credentials;
 * more than three times; or a write, which would be lost.
 */
export class CmsRedirected extends CmsUnavailable {
  /** Undefined without a valid absolute `Location`. */
  readonly target: URL | undefined;
  /** A redirect of a read within the origin: to where the request has been, or one too many. */
  readonly isLoop: boolean;

  constructor(message: string, target: URL | undefined, isLoop: boolean) {
    super('status', message, { status: 302 });
    this.name = 'CmsRedirected';
    this.target = target;
    this.isLoop = isLoop;
  }
}

/** A mistake in the operator's configuration: its location, the reason and the remedy. The exit code is 2. */
export class ConfigError extends Error {
  constructor(location: string, reason: string, remedy = '') {
    super(`${location}: ${reason}${remedy ? `\n  ${remedy}` : ''}`);
    this.name = 'ConfigError';
  }
}

/**
 * The replica failed. `damaged`: its file is corrupt. `unwritable`: the disk is full or read-only. `closed`:
 * a new replica is replacing it. Clients get 503.
 */
export class ReplicaError extends Error {
  readonly reason: 'damaged' | 'unwritable' | 'closed';

  constructor(reason: ReplicaError['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ReplicaError';
    this.reason = reason;
  }
}
