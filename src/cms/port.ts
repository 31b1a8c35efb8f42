// The CMS port: what any CMS must provide, in the gateway's terms.
//
// An adapter is one folder beside this file, whose `createNAME` returns a `Cms` (the end of this file). It translates a
// view, statuses, an order, a detail and a part of a list into requests of its CMS, and the errors of its CMS into the
// kinds of the gateway (`RejectionKind` in errors.ts). Over HTTP it uses `createCmsClient` (client.ts), which has
// connections, deadlines, limits, retries of reads and the circuit breaker, and throws `CmsUnavailable`.
// `none/none.ts` is the smallest adapter; test/cms/promises.ts checks each promise that is written here.

import type { ImageRecord, Kind, Site } from '../model/records.ts';

/**
 * A record in the form of the CMS, whose fields the mapping reads and writes: `{title: {raw: 'Fair'}, meta: {...}}`.
 * Of a record that it reads, the adapter adds or replaces
 * - `id`, a positive integer. Events, venues and organizers share one id space: an adapter whose collections count
 *   separately adds an offset to some, and gives ids that are texts numbers (`IdMap` in id-map.ts). A record that
 *   was created later has a higher id (`IdMap` gives them in the order of lists), and no id is used twice;
 * - `status`, one of the API's (`publish`, `draft`, `pending`, `private`, `future`, `trash`);
 * - `modifiedUtc` (`YYYY-MM-DD HH:MM:SS`), which grows with every change by an editor.
 *
 * Terms have an id only. Ids of other records, such as those at the path of `venues` or `author` (`paths` of the
 * collection spec), are the gateway's too. In a record to write, the adapter translates all of this back.
 */
export type CmsRecord = Record<string, unknown>;

/**
 * Property with the CMS's own status, such as `expired`, of a record whose `status` the adapter sets to `publish`:
 *   a single read          has the record
 *   a list of an account   has it: so the replica has it too with `upstream.readAs: account`
 *   a list of visitors     has it only if a plugin of the site adds it: so the replica has it too
 *
 * If a list lacks such a record although a single read has it, the list counts: the record is no hole (`readHoles`),
 * and is deleted (`isRightlyMissing`).
 */
export const CMS_STATUS = 'calendar_gateway_status';

/**
 * The caller's `Authorization` header, undefined for an anonymous caller. The adapter sends it with the calls of that
 * caller, and no other one; it may leave it out of a call for what visitors see. Never logged, never a cache key.
 */
export type Credentials = string | undefined;

export interface Account {
  userId: number;
  roles: string[];
  /** Names of the granted permissions, as {@link ActionPermissions} has them. */
  permissions: ReadonlySet<string>;
  mayUpload: boolean;
}

/**
 * Credentials as the CMS reads them: a user's password, or a token. `user` is the name by which failed logins
 * count; undefined if gateway and CMS could read different names from it: the gateway then rejects the login itself.
 */
export type Login = { kind: 'password'; user: string | undefined } | { kind: 'token' };

/**
 * What an account can do with the records of a collection. The three that begin with `read` say what the gateway may
 * ask for as that account. A CMS that itself leaves out what the account may not read grants all three.
 */
export const ACTIONS = [
  'edit',
  'editOthers',
  'editPublished',
  /** To see the own records in every status. */
  'readOwn',
  /** To see the records of others in every status but `private`. */
  'readOthers',
  /** To see records with the status `private`. */
  'readPrivate',
  'publish',
  'manageTerms',
] as const;
export type Action = (typeof ACTIONS)[number];

/** The permission that each action on the records of one collection needs, by the CMS's own name. */
export type ActionPermissions = Readonly<Record<Action, string>>;

/** What the mapping says about one collection of the CMS. That of a kind is a `KindMapping` (mapping.ts). */
export interface CollectionSpec {
  /** Absent for a collection that serves no kind, such as the media library. */
  kind?: Kind;
  /** Its name in the CMS, and in webhooks. */
  collection: string;
  /** `posts` have an author, a status, a modification time and perhaps a trash; `terms` have none of these. */
  storedAs: 'posts' | 'terms';
  /** Added to every request for records: `calendar_occurrences=7,90` asks for a field of this name in each record. */
  recordParams?: Query;
  /** What the mapping says about it for one CMS alone: only the adapter and the command line read it. */
  cmsSettings: Readonly<Record<string, unknown>>;
  /**
   * The CMS's lists have several rows for one record, such as one for each date of an event, and their totals count
   * rows. The sync takes each id once; if a total changes, it compares the whole list of ids.
   */
  dedupe: boolean;
  /** The path of each field that has a single one, in the CMS's names: `start` -> `meta.start`. None if embedded. */
  paths: ReadonlyMap<string, string>;
  /** The fields that the mapping reads, by the CMS's own names: `id,title,meta.start`. */
  selectedFields: string;
  /** The selected fields without which a record cannot be read, or a hidden event would be listed. */
  requiredPaths: readonly string[];
}

/** What the mapping says about the site of a CMS that does not tell it itself: `payload` in mapping.schema.json. */
export interface SiteSpec {
  name?: string;
  url?: string;
  timezone?: string;
  locale?: string;
  media?: string;
  users?: string;
}

export const plainCollection = (collection: string, storedAs: CollectionSpec['storedAs']): CollectionSpec => ({
  collection,
  storedAs,
  cmsSettings: {},
  dedupe: false,
  paths: new Map(),
  selectedFields: 'id',
  requiredPaths: [],
});

/** The media library. Its records have an id and a modification time; `Cms.images` reads the rest. */
export const MEDIA = plainCollection('media', 'posts');

/**
 * `editor`: the form with raw texts, for who may edit the record. `public`, `reader`: the form that everybody gets. A
 * read with credentials finds in both what that account may read, such as its private event. Only lists of published
 * records differ: with `reader` an account also gets those with a public status of a plugin, such as `expired`.
 */
export type CmsView = 'public' | 'reader' | 'editor';

/**
 * Which fields come back; by default all.
 *
 *   id       the id alone
 *   time     id and modification time
 *   stamp    id, modification time and status: they show that event 12 changed (`RecordStamp`)
 *   slug     id and slug
 *   mapped   the fields that the mapping names: read of event 12 after its stamp has changed
 */
export type Detail = 'id' | 'time' | 'stamp' | 'slug' | 'mapped';

export interface ListRequest {
  view: CmsView;
  /**
   * Default: published records, as far as this caller may list them. `any`: every status but the trash. `all`: the
   * trash too. A CMS that keeps several statuses as one (`pending` as a draft) may list all of these.
   */
  statuses?: 'any' | 'all' | readonly string[];
  detail?: Detail;
  /** Ties have no stable order, not even between two requests. */
  order?: 'id' | '-id' | 'date' | '-date' | '-modified';
  /** At most `Cms.maxPageSize`. Default: the CMS's own. */
  limit?: number;
  /** Of the first record, from 0; for `posts` only. */
  offset?: number;
  /** Instead of `offset`: from 1. After the last page, the list is empty. */
  page?: number;
  ids?: readonly number[];
  slug?: string;
  author?: number;
  /** `YYYY-MM-DD HH:MM:SS`. Excludes its own second. A CMS that cannot filter by it lists everything. */
  modifiedAfterUtc?: string;
}

export interface ReadRequest {
  view: CmsView;
  detail?: Detail;
  /** Of a protected record. */
  password?: string;
}

export interface CmsPage {
  /** Without the records that the gateway has no ids for. */
  records: CmsRecord[];
  /** Of the whole list. It may also count records that the caller may not see, but always the same number of them. */
  total: number;
  /** The CMS's clock when it responded, milliseconds since 1970. */
  cmsTimeMs: number;
}

/** What the sync must know about the form of the CMS's records. Paths name fields in the CMS's terms (`meta.cost`). */
export interface RecordForm {
  /** The paths that every record of such a collection has on every site, in a response with this detail. */
  certainPaths(spec: CollectionSpec, detail?: Detail): readonly string[];
  hasPath(record: CmsRecord, path: string): boolean;
}

/** Parameters of a request, by the CMS's own names. */
export type Query = Record<string, string | number | boolean>;

/**
 * A class of calls that share connections, queue and circuit breaker, so that no class can starve the others:
 *
 *   anonymous   caused by anonymous callers
 *   logins      checks of credentials that did not come from this IP address within the last day
 *   callers     with the credentials of an account
 *   sync        the gateway's own
 */
export type BulkheadName = 'anonymous' | 'logins' | 'callers' | 'sync';

export interface CallOptions {
  credentials?: Credentials;
  /** Default `sync`. */
  bulkhead?: BulkheadName | undefined;
  signal?: AbortSignal | undefined;
  /** Of a read: passes by caches before the CMS, by a parameter that none knows and `Cache-Control: no-cache`. */
  uncached?: string | undefined;
  /** Sent to the CMS as `X-Request-Id`. */
  requestId?: string | undefined;
  /** For a create: 64 hexadecimal digits by which `findCreated` finds its records. Sent as `X-Calendar-Key`. */
  creationKey?: string | undefined;
}

export interface CollectionInfo {
  /** What each action needs. Undefined if the CMS does not show that to this caller. */
  permissions: ActionPermissions | undefined;
  /**
   * Fields that a write may set: `title`, `meta.start`, `acf.start`. Undefined if the CMS does not show its schema.
   * Those that plugins add without a schema are missing.
   */
  writableFields: string[] | undefined;
}

/**
 * One CMS. Every call throws `CmsRejected` for an error that the CMS sends, `CmsUnavailable` without a usable response.
 *
 * A `CmsRejected` has a kind, the invalid fields by their paths in the CMS record, and `written`: `no` only for an
 * error that the CMS gives before it writes. Two kinds need the CMS's own word, because the sync deletes a record that
 * is `not-found` and leaves out a collection for `no-collection`: a 404 of a proxy is `failed`.
 */
export interface Cms {
  /** Records per list request: a multiple of ten (`pagesOf` in unpublished-records.ts). */
  readonly maxPageSize: number;
  readonly recordForm: RecordForm;
  /** Nobody can write: the gateway refuses it before it asks who wants to. */
  readonly isReadOnly?: true;
  site(options?: CallOptions): Promise<Site>;
  /** Undefined for a header without credentials of any scheme, or if nobody has an account: its sender is anonymous. */
  readLogin(authorization: string): Login | undefined;
  /** The account of the credentials. Throws `CmsRejected`: `unauthenticated` if wrong, `unknown-scheme` if ignored. */
  account(options: CallOptions): Promise<Account>;
  /** True if an account has this id, or if the CMS does not tell. */
  accountExists(id: number, options: CallOptions): Promise<boolean>;
  collectionInfo(spec: CollectionSpec, options?: CallOptions): Promise<CollectionInfo>;
  /** False only if the CMS itself says that it has no such collection. */
  hasCollection(spec: CollectionSpec, options?: CallOptions): Promise<boolean>;
  /** The address of a collection, or of one of its records, in the CMS's own API. */
  apiUrl(site: Site, spec: CollectionSpec, id?: number): string;
  /** The gateway's id of a record that the CMS names by its own id, as in a webhook. 0 if this CMS has no such ids. */
  gatewayId(spec: CollectionSpec, cmsId: number | string): number;
  /** The view `editor` is refused to who may not edit, also if the CMS itself would only leave out drafts. */
  list(spec: CollectionSpec, request: ListRequest, options?: CallOptions): Promise<CmsPage>;
  /**
   * Refuses as `list` does. A draft is `not-visible` or `not-found` to who may not see it. Who may edit a trashed
   * record finds it in any view.
   */
  read(spec: CollectionSpec, id: number, request: ReadRequest, options?: CallOptions): Promise<CmsRecord>;
  /** Resolves with the created record as its editors see it. A term whose name exists is a `conflict`. */
  create(spec: CollectionSpec, body: CmsRecord, options: CallOptions): Promise<CmsRecord>;
  /** The part of a create's body that the gateway sends again as an update: some plugins react to updates only. */
  resendAfterCreate?(spec: CollectionSpec, body: CmsRecord): CmsRecord | undefined;
  /** Changes what the body has, and nothing else. */
  update(spec: CollectionSpec, id: number, body: CmsRecord, options: CallOptions): Promise<CmsRecord>;
  /** Throws `CmsRejected` `no-trash` if the collection has none, and `in-trash` if the record is there already. */
  trash(spec: CollectionSpec, id: number, options: CallOptions): Promise<CmsRecord>;
  delete(spec: CollectionSpec, id: number, options: CallOptions): Promise<void>;
  /** At most `maxPageSize` of them, in any order. */
  images(ids: readonly number[], options?: CallOptions): Promise<ImageRecord[]>;
  /** The id of the uploaded image with this address. */
  findImage(url: string, options: CallOptions): Promise<number | undefined>;
  /** The filename has only letters and digits of ASCII, `-`, `_` and `.`. */
  upload(image: { bytes: Uint8Array; mimeType: string; filename: string }, options: CallOptions): Promise<ImageRecord>;
  /** The records created with this key, by the CMS's own ids. Undefined if the CMS cannot know. */
  findCreated(creationKey: string, options: CallOptions): Promise<{ collection: string; id: number }[] | undefined>;
  /**
   * True if a record of any collection has this id, as far as this caller may know: distinguishes "another
   * type" from "no record". Always false for a CMS whose collections number their records separately.
   */
  isIdTaken(id: number, options?: CallOptions): Promise<boolean>;
  close(): Promise<void>;
}
