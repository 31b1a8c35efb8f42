// Finds the ids of what a request refers to: for validation, of the records that its parameters name; for a
// write, of the terms (by id, slug or name), venues and organizers (by id or data) in its body. Creates
// missing ones, once all is resolved.

import { CmsRejected } from '../errors.ts';
import { invalidParam } from '../interface/errors.ts';
import { isEmpty } from '../interface/param-types.ts';
import type { ReferenceChecks } from '../interface/parameter.ts';
import { parseInline } from '../interface/validate.ts';
import { createLargeCache } from '../large-cache.ts';
import { isPostKind, type Kind, type LinkedKind, type TermKind } from '../model/records.ts';
import { getRecord, termIdByName, termIdBySlug } from '../store/records.ts';
import { normalizeUnicode, slugOf } from '../text/text.ts';
import { cmsToApiError } from './cms-errors.ts';
import { callOptions } from './cms-records.ts';
import { comparableText, type LinkedRecords, linkedCreateError } from './linked-records.ts';
import { isStaff, permissionsFor } from './permissions.ts';
import { existingTermIds, mayKnow, postExists, termExists } from './read-post.ts';
import type { RequestContext, Rollback } from './request-context.ts';
import type { SlugResolver } from './resolve-slug.ts';
import type { Services } from './services.ts';
import { ownTurn } from './turns.ts';

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** What a list in a body refers to, before anything is created. */
export interface ResolvedReferences {
  existing: number[];
  /** At least this many records will be created. */
  newCount: number;
  /** Creates the missing records. Resolves with all ids, in order, each once. */
  createMissing(): Promise<number[]>;
}

/** Equal for names that the CMS may take for one: as slugs, or without accents. */
export const nameKey = (name: string): string =>
  normalizeUnicode(comparableText(name), 'NFKD').replace(/[^\p{L}\p{N}]/gu, '');

/**
 * A term in a body. A number is an id, without its fraction and sign. Another text is a slug or name; `true`
 * is the name `1`. Undefined for none.
 */
function parseTerm(item: unknown): number | string | undefined {
  if (item === true) return '1';
  const text = item === null || item === undefined || item === false ? '' : String(item).trim();
  const term = NUMBER.test(text) ? Math.trunc(Math.abs(Number(text))) : text;
  return term === 0 || term === '' ? undefined : term;
}

/**
 * The terms in a body. An unknown id is ignored; an unknown slug or name becomes a new term.
 */
export async function resolveTerms(
  services: Services,
  kind: TermKind,
  items: unknown[],
  request: RequestContext,
  rollback: Rollback,
): Promise<ResolvedReferences> {
  const sent = items.map(parseTerm).filter((term) => term !== undefined);
  const ids = sent.filter((term) => typeof term === 'number');
  const existing = await existingTermIds(services, kind, ids, request);
  /** Ids, and names of terms to create. */
  const terms: (number | string)[] = [];
  for (const term of sent) {
    // Lets other requests run between two of possibly a thousand items.
    await ownTurn();
    if (typeof term === 'string') terms.push((await usableTerm(services, kind, term, rollback)) ?? term);
    else if (existing.has(term) && (await rollback.use(kind, term))) terms.push(term);
  }
  const names = terms.filter((term) => typeof term === 'string');
  return {
    existing: [...new Set(terms.filter((term) => typeof term === 'number'))],
    newCount: new Set(names.map(nameKey)).size,
    async createMissing() {
      const ids = new Set<number>();
      for (const term of terms) {
        if (typeof term === 'number') ids.add(term);
        else {
          // An earlier item may have created the term, under another spelling of its name.
          const id = await usableTerm(services, kind, term, rollback);
          ids.add(id ?? (await createTerm(services, kind, term, request, rollback)));
        }
      }
      return [...ids];
    },
  };
}

async function usableTerm(
  services: Services,
  kind: TermKind,
  name: string,
  rollback: Rollback,
): Promise<number | undefined> {
  const id = findTermByText(services, kind, name);
  return id !== undefined && (await rollback.use(kind, id)) ? id : undefined;
}

/**
 * The id of a term in the replica, by slug, else by the slug that the text would get, else by name; the
 * lowest id of several.
 */
function findTermByText({ replica }: Services, kind: TermKind, text: string): number | undefined {
  // Terms of a site without slugs have the empty one; a text without letters and digits would get it. A
  // number is an id.
  const slug = NUMBER.test(text) ? '' : slugOf(text);
  const bySlug = slug === '' ? undefined : termIdBySlug(replica.db, kind, slug);
  return termIdBySlug(replica.db, kind, text) ?? bySlug ?? termIdByName(replica.db, kind, text);
}

/** The id of a term in the replica, for a list parameter: by slug, else by id, else by name. */
function findTermByTextOrId(services: Services, kind: TermKind, text: string): number | undefined {
  const { replica } = services;
  const id = /^\d+$/.test(text) ? Number(text) : undefined;
  return (
    termIdBySlug(replica.db, kind, text) ??
    (id !== undefined && getRecord(replica.db, kind, id) ? id : findTermByText(services, kind, text))
  );
}

/** Of an event, which name terms. */
const PARAMETERS: Readonly<Record<TermKind, string>> = { category: 'categories', tag: 'tags' };

/** Creates a term, or resolves with the term in the CMS that has the name already. */
async function createTerm(
  services: Services,
  kind: TermKind,
  name: string,
  request: RequestContext,
  rollback: Rollback,
): Promise<number> {
  try {
    return (await services.cmsRecords.create(kind, { name }, request, rollback)).id;
  } catch (error) {
    if (!(error instanceof CmsRejected) || error.existingId === undefined)
      throw cmsToApiError(error, { kind, anonymous: false, texts: { [PARAMETERS[kind]]: name } });
    const id = error.existingId;
    await termExists(services, kind, id, request);
    await rollback.use(kind, id);
    return id;
  }
}

/**
 * The venues or organizers in a body. Data describes a new record or a duplicate of an existing one; it is
 * checked as far as the gateway can.
 */
export async function resolveLinked(
  services: Services,
  kind: LinkedKind,
  linkedRecords: Record<LinkedKind, LinkedRecords>,
  items: unknown[],
  request: RequestContext,
  rollback: Rollback,
): Promise<ResolvedReferences> {
  const existing: number[] = [];
  const names: string[] = [];
  const steps: (() => Promise<number>)[] = [];
  for (const item of items) {
    const data = typeof item === 'object' && item !== null ? (item as Record<string, unknown>) : { id: item };
    if (!isEmpty(data.id)) {
      const id = Number(data.id);
      // Validation found the record, but a rollback may have removed it since.
      if (!(await rollback.use(kind, id))) throw invalidParam(kind);
      existing.push(id);
      steps.push(async () => id);
      continue;
    }
    await ownTurn();
    const input = parseInline(kind, data);
    const create = await withLinkedErrors(kind, () => linkedRecords[kind].prepare(input, request, rollback));
    names.push(String(input.fields.title));
    steps.push(async () => (await withLinkedErrors(kind, create)).id);
  }
  return {
    existing: [...new Set(existing)],
    newCount: minimumNew(services, kind, existing, names),
    async createMissing() {
      const ids = new Set<number>();
      for (const step of steps) ids.add(await step());
      return [...ids];
    },
  };
}

/**
 * The number of records that will be created at least. Data with the name of an existing record may mean that
 * record.
 */
function minimumNew(
  services: Services,
  kind: LinkedKind,
  existing: readonly number[],
  names: readonly string[],
): number {
  const titles = existing.map((id) => getRecord(services.replica.db, kind, id)?.title);
  if (titles.includes(undefined)) return 0;
  const known = new Set(titles.map((title) => nameKey(title!)));
  return new Set(names.map(nameKey).filter((name) => !known.has(name))).size;
}

async function withLinkedErrors<T>(kind: LinkedKind, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw linkedCreateError(kind, error);
  }
}

const USERS_TTL_MS = 60_000;
const MAX_USERS = 5000;

/**
 * Returns a function that creates the checks of one request; `kind` is that of its route, undefined on a
 * route without records. They look into the replica first and then call the CMS with the actor's credentials;
 * they throw `CmsUnavailable`.
 */
export function createReferenceChecks(services: Services, slugs: SlugResolver) {
  const users = createLargeCache<number, boolean>(MAX_USERS, { ttl: USERS_TTL_MS });

  async function userExists(id: number, request: RequestContext): Promise<boolean> {
    const { account } = request.actor;
    // A later check rejects anonymous writers; only authenticated actors may cause calls to the CMS here.
    if (!account || id === account.userId) return true;
    const known = users.get(id);
    if (known !== undefined) return known;
    const exists = await services.cms.accountExists(id, callOptions(request));
    users.set(id, exists);
    return exists;
  }

  return async function checksFor(request: RequestContext, kind: Kind | undefined): Promise<ReferenceChecks> {
    const permissions = kind === undefined ? undefined : await permissionsFor(services, kind, request.actor);

    return {
      isStaff: isStaff(request.actor, permissions),
      exists: async (of, id) =>
        isPostKind(of) ? postExists(services, of, id, request) : termExists(services, of, id, request),
      async slugExists(of, slug) {
        const id = await slugs.resolve(of, slug, request);
        return id !== undefined && mayKnow(services, of, id);
      },
      async findTerm(of, text) {
        const id = findTermByTextOrId(services, of, text);
        if (id !== undefined || !/^\d+$/.test(text)) return id;
        return (await termExists(services, of, Number(text), request)) ? Number(text) : undefined;
      },
      userExists: (id) => userExists(id, request),
      isUsableImage: (value) => request.images!.isUsable(value),
    };
  };
}
