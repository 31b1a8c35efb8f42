// One request as the operations see it, and what they answer.

import type { Kind, WallTime } from '../records.ts';
import type { CallOptions } from '../upstream/port.ts';
import type { CreatedKind } from './references.ts';
import type { Caller } from './visibility.ts';

/** A checked request: values as read, of what was sent. */
export interface Input {
  path: { id?: number; slug?: string };
  /** By parameter name. */
  values: Record<string, unknown>;
  /** By parameter name, as sent; undeclared ones too. */
  sent: Record<string, unknown>;
  /** The same values under the names that records give them. */
  fields: Record<string, unknown>;
  /** Record field -> parameter. */
  parameterOf: Record<string, string>;
}

/** What one request created in the CMS (rollback.ts). */
export interface Rollback {
  /** The CMS answered that this request created the record; `record` is its state then. An image has no record here: the rollback leaves it. */
  created(kind: CreatedKind, id: number, record?: object): void;
  /**
   * To be called before the gateway writes again to a record that the CMS answered a create with. Throws `UpstreamAway`, with an unknown
   * outcome, if the record was known before that create: then another request made it.
   */
  assertOwn(kind: CreatedKind, id: number): void;
  /** The CMS may have kept a record of this request: `find` looks for candidates when the request fails. */
  mayHaveCreated(kind: CreatedKind, find: () => Promise<number[]>): void;
  /** Notes that a record of this request will refer to this one. Resolves with false if a rollback has just removed it. */
  use(kind: CreatedKind, id: number): Promise<boolean>;
  /**
   * Runs `body`. When it is refused, removes what this request created, the last first, as far as that is provably unused. When the
   * outcome of a write is unknown, removes nothing. The error names what stays: `data.created`, `data.possibly_created`.
   */
  guard<T>(body: () => Promise<T>): Promise<T>;
}

/** What a request's images turned out to be, between its checks and its write. */
export interface Images {
  /** Whether this may be used as an image. Fetches a foreign URL, which only those who may upload can make the gateway do. */
  usable(value: string | number): Promise<boolean>;
  /** Id of the image in the CMS, uploading what was fetched; 0 for `''`. */
  idOf(value: string, rollback: Rollback): Promise<number>;
  /** The request is over: what was fetched is not needed any more. */
  release(): void;
}

/** The hash of a create's Idempotency-Key, as it goes to the CMS. */
export interface CreateKeyInUse {
  kind: Kind;
  key: string;
  /** Call it before sending the create. Throws 409 if another gateway has taken the create over, which happens after two minutes. */
  renew(): Promise<void>;
}

/** One request as the operations see it. */
export interface Asked {
  caller: Caller;
  /** Address of the namespace as called. */
  base: string;
  requestId?: string;
  /** The images that this request names, checked before the operation begins. */
  images: Images;
  /** For a create with an Idempotency-Key: the key that goes to the CMS with the record of this kind. */
  createKey?: CreateKeyInUse;
}

/** An operation's answer, before it is bytes. */
export interface Answer {
  status: number;
  /** JSON, or bytes that are sent as they are; a list of bytes is one body in pieces. */
  body: unknown;
  headers?: Record<string, string>;
  /** Records that the answer shows, for purging a CDN: `event-12`. */
  tags?: readonly string[];
  /** Public answers: until when the same question has the same answer, unless something changes. */
  validUntilMs?: number;
  /** Ready bytes have a stored ETag. */
  etag?: string;
  /** Single records: when what it shows was last changed, as far as that is known. */
  modifiedUtc?: WallTime;
  /** Version of the copy that it was read from; without one, that at its end. */
  version?: number;
}

const laneOf = ({ account, network }: Caller): Pick<CallOptions, 'lane' | 'share'> => {
  if (account) return { lane: 'callers', share: String(account.userId) };
  return { lane: 'anonymous', ...(network === undefined ? {} : { share: network }) };
};

/**
 * How the CMS is called for a request: with the caller's own credentials, so that it decides what they may do, in the lane of callers or of
 * the anonymous, taking turns with other users and networks, and with the request's id.
 */
export const callOptions = (asked: Pick<Asked, 'caller' | 'requestId'>): CallOptions => ({
  credentials: asked.caller.credentials,
  ...laneOf(asked.caller),
  ...(asked.requestId === undefined ? {} : { requestId: asked.requestId }),
});

/** Headers of a create: the key goes with the record that the request is about, not with linked records. Throws 409. */
export async function createKeyOf({ createKey }: Asked, kind: Kind): Promise<Pick<CallOptions, 'createKey'>> {
  if (createKey?.kind !== kind) return {};
  await createKey.renew();
  return { createKey: createKey.key };
}
