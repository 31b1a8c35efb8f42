// `Idempotency-Key` on creates (draft-ietf-httpapi-idempotency-key-header): a retry gets the record, and creates none.

import { createHash, randomUUID } from 'node:crypto';
import type { ApiResponse, CreatedRecord, RequestContext } from '../calendar/request.ts';
import type { Services } from '../calendar/services.ts';
import { ApiError, CmsRejected, CmsUnavailable } from '../errors.ts';
import { createInProgress, invalidParam, keyReused } from '../interface/errors.ts';
import { isObject } from '../model/json.ts';
import type { Kind } from '../model/records.ts';
import type { IdempotencyEntry, IdempotencyStore } from '../store/idempotency-keys.ts';
import { errorResponse } from './error-handler.ts';
import { IDEMPOTENCY_KEY_HEADER, REPLAYED_HEADER } from './headers.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;
/** After this time a create has ended in the CMS, whether or not the gateway received the response. */
const MAX_CREATE_MS = 120_000;

interface CreateRequest {
  /** The header, not validated yet. */
  key: string;
  kind: Kind;
  /** Parameters from query and body. */
  params: unknown;
  request: RequestContext;
  /** Runs the create with this key for the CMS. Calls `renewClaim` (`KeyedCreate`) just before it sends the record. */
  create(creationKey: string, renewClaim: () => Promise<void>): Promise<ApiResponse>;
  /** Reads a record that was created before, as the actor may see it now. */
  readForReplay(id: number): Promise<ApiResponse>;
}

const hashOf = (...parts: string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/**
 * A key belongs to a user and a kind. The store has the hash of the key and the id of the created record, but no
 * content: a retry returns what the actor may see of the record then.
 */
export class Idempotency {
  readonly #services: Services;
  readonly #keys: IdempotencyStore;
  /** The keys of creates that run here. The replica's set: a reload makes another `Idempotency` while creates run. */
  readonly #running: Set<string>;

  constructor(services: Services, keys: IdempotencyStore) {
    this.#services = services;
    this.#keys = keys;
    this.#running = services.replica.runningCreates;
  }

  /**
   * Runs a create once for each key, user and kind. Throws the errors of the create, and 400, 409, 422 and 503.
   *
   *     the key has in the store   this request gets
   *     nothing                    its create; in a cluster, the record if the companion plugin knows the key
   *     other parameters           422
   *     a result (`done`)          the record, or the stored error
   *     `running`                  409 while the create may still run, then as `unknown`
   *     `unknown`; the CMS has
   *       the record               the record
   *       no record                after two minutes its create; until then the stored error, or 502 without one
   *       no companion plugin      the stored error, or 502 without one: nothing tells whether there is a record
   */
  async createOnce(createRequest: CreateRequest): Promise<ApiResponse> {
    const { key, kind, params, request, readForReplay } = createRequest;
    const { peers } = this.#services;
    if (!KEY.test(key)) throw invalidParam(IDEMPOTENCY_KEY_HEADER, 'must be 1 to 255 visible ASCII characters.');
    const user = String(request.actor.account?.userId);
    const creationKey = hashOf('key', user, kind, key);
    const nowMs = this.#services.nowMs();
    const fingerprint = hashOf(canonicalJson(params));
    const claim: IdempotencyEntry = { fingerprint, state: 'running', startedMs: nowMs, holder: randomUUID() };
    const known = await this.#keys.claim(hashOf('user', user), creationKey, claim);
    if (!known && peers) return this.#runUnlessCreated(creationKey, claim, createRequest);
    if (!known) return this.#run(creationKey, claim, createRequest);
    if (known.fingerprint !== claim.fingerprint) throw keyReused();
    if (known.state === 'done') return replayed(known.response ?? (await readForReplay(known.id!)));
    // Without peers, what is `running` in the store and not here was cut off: the process ended during the create.
    const mayRunElsewhere = peers !== undefined && nowMs - known.startedMs <= MAX_CREATE_MS;
    if (this.#running.has(creationKey) || (known.state === 'running' && mayRunElsewhere)) throw createInProgress();
    return this.#resolveUnknown(creationKey, known, createRequest);
  }

  /** Runs the create under a claimed key, and stores its result: of a failed one what `resultOf` says. */
  async #run(creationKey: string, claimed: IdempotencyEntry, createRequest: CreateRequest): Promise<ApiResponse> {
    const { create, kind, request } = createRequest;
    this.#running.add(creationKey);
    let entry = claimed;
    /** Another gateway holds the key now: what is stored under the key is no longer ours. */
    let isLost = false;
    /** The CMS may have received the record itself, and not only its venue or image. */
    let isSent = false;
    // The steps before the create may take so long that another gateway takes this one for crashed, and claims the key.
    const renewClaim = async (): Promise<void> => {
      const renewed: IdempotencyEntry = { ...entry, startedMs: this.#services.nowMs() };
      isLost = !(await this.#keys.compareAndSet(creationKey, entry, renewed));
      if (isLost) throw createInProgress();
      entry = renewed;
      isSent = true;
    };
    const store = (result: Partial<IdempotencyEntry>) =>
      this.#keys.set(creationKey, { ...entry, ...result }).catch(this.#warn);
    try {
      const response = await create(creationKey, renewClaim);
      await store({ state: 'done', id: (response.body as { id: number }).id });
      return response;
    } catch (error) {
      if (isLost) throw error;
      const created = request.created?.find((each) => each.kind === kind);
      const result = resultOf(error, created, isSent);
      await (result ? store(result) : this.#keys.delete(creationKey).catch(this.#warn));
      throw error;
    } finally {
      this.#running.delete(creationKey);
    }
  }

  /** Redis may have been emptied since an earlier create with the key: then only the companion plugin knows of it. */
  async #runUnlessCreated(creationKey: string, claim: IdempotencyEntry, create: CreateRequest): Promise<ApiResponse> {
    const { id } = await this.#findCreated(creationKey, create).catch(async (error: unknown) => {
      await this.#keys.delete(creationKey).catch(this.#warn);
      throw error;
    });
    if (id === undefined) return this.#run(creationKey, claim, create);
    return this.#replayCreated(creationKey, claim, id, create);
  }

  /** Asks the companion plugin what a create of unknown outcome has made. Without its answer no second create runs. */
  async #resolveUnknown(creationKey: string, entry: IdempotencyEntry, create: CreateRequest): Promise<ApiResponse> {
    const { isKnown, id } = await this.#findCreated(creationKey, create);
    if (id !== undefined) return this.#replayCreated(creationKey, entry, id, create);
    const startedMs = this.#services.nowMs();
    if (isKnown && startedMs - entry.startedMs > MAX_CREATE_MS) {
      const claim: IdempotencyEntry = { ...entry, state: 'running', startedMs, holder: randomUUID() };
      delete claim.response;
      if (await this.#keys.compareAndSet(creationKey, entry, claim)) return this.#run(creationKey, claim, create);
      throw createInProgress();
    }
    if (entry.response) return replayed(entry.response);
    throw new CmsUnavailable('reset', 'the gateway that sent the create ended', { outcomeUnknown: true });
  }

  /** The CMS has the record of this key: stores its id, and answers as to every later retry. */
  async #replayCreated(creationKey: string, entry: IdempotencyEntry, id: number, { readForReplay }: CreateRequest) {
    const { response: _unknown, ...rest } = entry;
    await this.#keys.compareAndSet(creationKey, entry, { ...rest, state: 'done', id }).catch(this.#warn);
    return replayed(await readForReplay(id));
  }

  #findCreated(creationKey: string, { kind, request }: CreateRequest) {
    return this.#services.cmsRecords.findCreated(kind, creationKey, { actor: request.actor });
  }

  /** If the store fails, the create counts as running, and later as unknown: a retry creates no second record. */
  readonly #warn = (error: unknown): void => {
    const message = `Idempotency-Key: cannot store the outcome of a create: ${(error as Error).message}`;
    this.#services.observe({ type: 'message', level: 'warn', message });
  };
}

/**
 * What is stored of a create that failed:
 *
 *     the error is `calendar_outcome_unknown`          `unknown`
 *     `created`: the CMS has it, a later step failed   `done`: the error, or of a 503, which asks to retry, the record
 *     `isSent`, and `mayHaveWritten`                   `done`: the error
 *     not sent, or refused before it was written       nothing: the next request with the key is a create of its own
 */
function resultOf(error: unknown, created: CreatedRecord | undefined, isSent: boolean) {
  const { isUnexpected: _, ...response } = errorResponse(error);
  if (response.body.code === 'calendar_outcome_unknown') return { state: 'unknown', response } as const;
  if (created && response.status === 503) return { state: 'done', id: created.id } as const;
  return created || (isSent && mayHaveWritten(error)) ? ({ state: 'done', response } as const) : undefined;
}

/** False if the CMS has refused the create before it stored anything: then a retry is a request of its own. */
function mayHaveWritten(error: unknown): boolean {
  if (error instanceof CmsRejected) return error.written !== 'no';
  if (error instanceof CmsUnavailable) return error.outcomeUnknown;
  if (error instanceof ApiError && error.cause !== undefined) return mayHaveWritten(error.cause);
  return true;
}

const replayed = ({ status, body, headers }: NonNullable<IdempotencyEntry['response']>): ApiResponse => ({
  status,
  body,
  headers: { ...headers, [REPLAYED_HEADER]: 'true' },
});

/** JSON with sorted keys: the same text for equal values. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
