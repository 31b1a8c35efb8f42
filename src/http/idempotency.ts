// `Idempotency-Key` on creates (draft-ietf-httpapi-idempotency-key-header): a retry gets the record that was created, and makes no second one.

import { createHash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Answer, Asked } from '../calendar/asked.ts';
import type { Backing } from '../calendar/backing.ts';
import { invalidParam } from '../calendar/refusals.ts';
import { away } from '../calendar/translate.ts';
import { GatewayError, UpstreamAway } from '../errors.ts';
import { fittedId } from '../mapping/fitting.ts';
import type { Kind } from '../records.ts';
import type { CreateKey, CreateKeys } from '../replica/create-keys.ts';
import { errorAnswer } from './error-body.ts';
import { KEY_HEADER, REPLAYED_HEADER } from './headers.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;
/** A create that began so long ago has ended in the CMS, whether the gateway has heard of it or not. */
const ENDED_AFTER_MS = 120_000;
const UNRELEASED = 10_000;
/** Bytes. The gateway does not keep longer refusals: nothing was created, and the CMS refuses the retry again. */
const REFUSAL_BYTES = 4 * 1024;

export interface CreateRequest {
  /** The header as it came. */
  key: string;
  kind: Kind;
  /** Parameters from query and body. */
  sent: unknown;
  asked: Asked;
  /** Runs the create and sends `createKey` to the CMS. Calls `renew` first, which throws 409 if another gateway has taken over. */
  create(createKey: string, renew: () => Promise<void>): Promise<Answer>;
  /** Answers with a record that was created before, as the actor may see it now. Throws what a read of it throws. */
  created(id: number): Promise<Answer>;
}

/** Runs a create once for each key, user and kind. Throws what the create throws, and 400, 409, 422 and 503 of its own. */
export type CreateOnce = (request: CreateRequest) => Promise<Answer>;

const hashOf = (...parts: string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/**
 * A key belongs to a user and a kind; the gateway keeps only its hash. It keeps the id of the created record and no text of it: a retry gets
 * what the actor may see of the record at that moment.
 */
export function createIdempotency(backing: Backing, keys: CreateKeys): CreateOnce {
  const me = randomUUID();
  /** No two entries are equal. */
  const byMe = () => `${me} ${randomUUID()}`;
  const running = new Set<string>();
  /** Entries of creates that made nothing, by key: where they are kept did not say that they were released, or ever taken. */
  const unreleased = new LRUCache<string, string>({ max: UNRELEASED });

  const log = (what: string, error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    backing.observe({ type: 'notice', level: 'warn', message: `Idempotency-Key: ${what}: ${why}` });
  };

  /** Runs the create under a key that was taken, and keeps what came of it. */
  async function run(name: string, taken: CreateKey, { kind, create }: CreateRequest): Promise<Answer> {
    running.add(name);
    let mine = taken;
    let isLost = false;
    // The steps before the create may take long: another gateway then assumes that this gateway has ended, and takes the key over.
    async function renew(): Promise<void> {
      const renewed = { ...mine, atMs: backing.nowMs() };
      isLost = !(await keys.replace(name, mine, renewed));
      if (isLost) throw inProgress();
      mine = renewed;
    }
    // What cannot be kept counts as running, and later as unknown: a retry makes no second record.
    const keep = (entry: Partial<CreateKey>) =>
      keys.set(name, { ...mine, ...entry }).catch((error: unknown) => log('an answer could not be kept', error));
    try {
      const answer = await create(name, renew);
      await keep({ state: 'done', id: (answer.body as { id: number }).id });
      return answer;
    } catch (error) {
      const said = errorAnswer(error);
      const answer = { status: said.status, body: said.body, headers: said.headers };
      if (isLost) throw error;
      if (said.body.code === 'calendar_outcome_unknown') await keep({ state: 'unknown', answer });
      else if (isFinal(said, kind)) await keep({ state: 'done', answer });
      else
        await keys.drop(name).catch((failure: unknown) => {
          unreleased.set(name, JSON.stringify(mine));
          log('a key could not be released', failure);
        });
      throw error;
    } finally {
      running.delete(name);
    }
  }

  /** Finishes a create with an unknown outcome: the companion plugin says what was created with the key. */
  async function resolved(name: string, found: CreateKey, request: CreateRequest): Promise<Answer> {
    const { kind, asked, created } = request;
    const { base } = backing.mapping.kinds[kind] ?? {};
    const { credentials, account } = asked.caller;
    const options = { credentials, lane: 'callers' as const, share: String(account?.userId) };
    const records = await backing.upstream.createdWith(name, options);
    const own = records?.find(({ collection }) => collection === base);
    if (own) {
      const id = fittedId(backing.mapping, own.collection, own.id);
      const answer = await created(id);
      const { answer: _unknown, ...rest } = found;
      await keys.replace(name, found, { ...rest, state: 'done', id });
      return replayed(answer);
    }
    if (records && backing.nowMs() - found.atMs > ENDED_AFTER_MS) {
      const mine: CreateKey = { ...found, state: 'running', atMs: backing.nowMs(), by: byMe() };
      delete mine.answer;
      if (await keys.replace(name, found, mine)) return run(name, mine, request);
      throw inProgress();
    }
    if (found.answer) return replayed(found.answer);
    throw away(new UpstreamAway('reset', 'the gateway that sent the create ended', { outcomeUnknown: true }));
  }

  return async (request) => {
    const { key, kind, sent, asked, created } = request;
    if (!KEY.test(key)) throw invalidParam(KEY_HEADER, 'must be 1 to 255 visible ASCII characters.');
    const user = String(asked.caller.account?.userId);
    const name = hashOf('key', user, kind, key);
    const mine: CreateKey = {
      fingerprint: hashOf(canonical(sent)),
      state: 'running',
      atMs: backing.nowMs(),
      by: byMe(),
    };
    const found = await keys.take(hashOf('user', user), name, mine).catch((error: unknown) => {
      if (!unreleased.has(name)) unreleased.set(name, JSON.stringify(mine));
      throw error;
    });
    if (!found) return run(name, mine, request);
    if (found.fingerprint !== mine.fingerprint) throw otherRequest();
    if (found.state === 'done') {
      return replayed(found.answer ?? (await created(found.id!)));
    }
    if (unreleased.get(name) === JSON.stringify(found)) {
      const isMine = await keys.replace(name, found, mine);
      unreleased.delete(name);
      if (!isMine) throw inProgress();
      return run(name, mine, request);
    }
    const mayRun =
      !found.by.startsWith(me) && backing.nowMs() - found.atMs <= ENDED_AFTER_MS && backing.others !== undefined;
    if (running.has(name) || (found.state === 'running' && mayRun)) throw inProgress();
    return resolved(name, found, request);
  };
}

/**
 * Whether a refusal is the answer of every retry. A temporary refusal (a failure of the CMS or the gateway, a login, a limit) is not, unless
 * a record of the kind may be left: then a retry could create a second one. A retry uses other records that are left: venues, organizers, terms.
 */
function isFinal({ status, body }: { status: number; body: Record<string, unknown> }, kind: Kind): boolean {
  const { created = [], possibly_created = [] } = (body.data ?? {}) as Record<string, { kind: string }[]>;
  if ([...created, ...possibly_created].some((one) => one.kind === kind)) return true;
  const passes = status >= 500 || status === 401 || status === 403 || status === 429;
  return !passes && Buffer.byteLength(JSON.stringify(body)) <= REFUSAL_BYTES;
}

const replayed = ({ status, body, headers }: NonNullable<CreateKey['answer']>): Answer => ({
  ...{ status, body },
  headers: { ...headers, [REPLAYED_HEADER]: 'true' },
});

/** The same for equal values, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

const inProgress = (): GatewayError =>
  new GatewayError(409, 'calendar_create_in_progress', 'A request with this Idempotency-Key is in progress.', {
    headers: { 'Retry-After': '2' },
  });

const otherRequest = (): GatewayError =>
  new GatewayError(
    422,
    'calendar_idempotency_key_reused',
    'This Idempotency-Key belongs to a request with another body.',
  );
