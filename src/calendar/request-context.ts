// The use cases' view of one request, and the response that they return.

import type { Kind, KindOrImage, WallTime } from '../model/records.ts';
import type { Actor } from './permissions.ts';

/** The images that a request names: validation checks them, the write uses them. */
export interface RequestImages {
  /**
   * Whether the value is a usable image. The gateway fetches a foreign URL only for an actor who may upload.
   */
  isUsable(value: string | number): Promise<boolean>;
  /** Whether `idOf` would upload the image, so that no record of the CMS can have it. */
  needsUpload(value: string): boolean;
  /** The image's id in the CMS. Uploads an image that was fetched. 0 for `''`. */
  idOf(value: string): Promise<number>;
  /** Frees the fetched images at the end of the request. */
  release(): void;
}

/** This gateway's claim on the Idempotency-Key of a create. */
export interface CreationKeyClaim {
  kind: Kind;
  /** The hash of the key, which the CMS stores with the record. */
  key: string;
  /**
   * Call it before the create. Throws 409 if another gateway has claimed the key, which is possible after two
   * minutes.
   */
  renew(): Promise<void>;
}

/** A record that a request has created in the CMS. */
export interface CreatedRecord {
  kind: KindOrImage;
  id: number;
}

export interface RequestContext {
  actor: Actor;
  /** The address of the API namespace under which the client called. */
  baseUrl: string;
  requestId?: string | undefined;
  /** Of a create or update. */
  images?: RequestImages;
  /** Of a create or update: what it has created in the CMS so far. */
  created?: CreatedRecord[];
  /** For a create with an Idempotency-Key. */
  creationKey?: CreationKeyClaim;
}

/** A use case's response, before serialization. */
export interface ApiResponse {
  status: number;
  /** A JSON value, rendered bytes, or a `RenderedList`. */
  body: unknown;
  headers?: Record<string, string>;
  /** The records in the response, such as `event-12`, for purging a CDN. */
  cacheTags?: readonly string[];
  /** For public responses: the same request gets the same response until then, unless the replica changes. */
  validUntilMs?: number;
  /** The ETag of rendered bytes. */
  etag?: string;
  /** For single records: when the response was first like this, as far as this process knows. */
  modifiedUtc?: WallTime | undefined;
  /** What was rendered for it, if it shows only a part of that. */
  builtBytes?: number;
  /** As how many requests more than one it counts in the rate limit if it was built for this one. Default 0. */
  extraRequests?: number;
  /** The replica version that the response shows. The default is the version at the end of the request. */
  replicaVersion?: number;
}
