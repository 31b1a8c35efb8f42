// What a create that failed may have left in the CMS: WordPress inserts a record before it checks terms and meta, and keeps it.

import { randomBytes } from 'node:crypto';
import { UpstreamAway, UpstreamRefused } from '../errors.ts';
import { fittedId } from '../mapping/fitting.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import { KINDS, type Kind } from '../records.ts';
import type { CallOptions } from '../upstream/port.ts';
import { type Asked, callOptions, type Rollback } from './asked.ts';
import { type Backing, whole } from './backing.ts';
import type { CreatedKind } from './references.ts';

type CallerOf = Pick<Asked, 'caller' | 'requestId'>;

/** WordPress's own codes from before the insert. A plugin may use any code at any time: codes that it is likely to use are not here. */
const BEFORE_INSERT =
  /^(rest_missing_callback_param|rest_cannot_(create|publish|edit_others|assign_term|assign_sticky)|rest_invalid_author|rest_post_exists|empty_content|empty_term_name|term_exists|missing_parent|duplicate_term_slug|rest_taxonomy_not_hierarchical|rest_upload_\w+|incorrect_password|invalid_username|invalid_email|rest_not_logged_in)$/;

function isBeforeInsert({ status, code, data }: UpstreamRefused): boolean {
  // With `params` it is the check of the parameters, before any handler runs.
  return status === 401 || BEFORE_INSERT.test(code) || (code === 'rest_invalid_param' && data.params !== undefined);
}

/**
 * What the companion plugin says in an error that the request inserted, and that is still there; undefined without its word. A list of records
 * counts only beside the id of this very call: an error of another request, which a cache before the CMS repeats, or of another plugin
 * names records that this request did not create.
 */
function insertedBy({ data }: UpstreamRefused, { createId }: Begun): { collection: string; id: number }[] | undefined {
  const said = data.calendar_created;
  if (!Array.isArray(said) || (said.length > 0 && data.calendar_create !== createId)) return undefined;
  return said.flatMap((one: unknown) => {
    const { collection, id } = (one ?? {}) as { collection?: unknown; id?: unknown };
    return typeof collection === 'string' && Number.isSafeInteger(id) ? { collection, id: Number(id) } : [];
  });
}

/** What is known before a create. */
export interface Begun extends Required<Pick<CallOptions, 'createId'>> {
  /** The highest id of the kind that is known: what the create inserts gets a higher one. */
  known: number;
  /** Whom the record is to belong to; the caller where absent. */
  author?: number;
}

/** To be called before each create; `createId` goes to the CMS with it. */
export const beginCreate = (backing: Backing, kind: CreatedKind, author?: number): Begun => ({
  ...(author === undefined ? {} : { author }),
  createId: randomBytes(16).toString('hex'),
  known: kind === 'image' ? 0 : backing.replica.highestId(kind),
});

/**
 * Notes for the rollback what the CMS answered to a create. A record that was known before is named and stays: what stands before the CMS
 * may repeat the answer to another create. `read`: the record as the answer shows it; throws when the answer lacks something.
 */
export function noteCreated<R extends object>(
  backing: Backing,
  kind: Kind,
  id: number,
  begun: Begun,
  rollback: Rollback,
  read: () => R,
): R {
  const { replica, acknowledged } = backing;
  const isKnown = acknowledged.has(`${kind} ${id}`) || (id <= begun.known && replica.get(kind, id) !== undefined);
  // Errors name the record even if the answer lacks fields.
  rollback.created(kind, id);
  const record = read();
  if (!isKnown) rollback.created(kind, id, record);
  return record;
}

/**
 * Notes for the rollback what a failed create of `kind` left. With the companion plugin's word that is what the request inserted, which the
 * rollback removes. Without it nothing is removed: the caller's newest records are candidates.
 * @param begun what `beginCreate` said before the create
 */
export async function noteFailedCreate(
  backing: Backing,
  kind: CreatedKind,
  error: unknown,
  begun: Begun,
  asked: CallerOf,
  rollback: Rollback,
): Promise<void> {
  if (error instanceof UpstreamAway && !error.outcomeUnknown && isByPage(error)) {
    // A firewall before WordPress sends most of these: name only a record that the CMS shows.
    rollback.mayHaveCreated(kind, () => candidates(backing, kind, begun, asked).catch(() => []));
    return;
  }
  const isUnknown = error instanceof UpstreamAway && error.outcomeUnknown;
  if (!isUnknown && !(error instanceof UpstreamRefused)) return;
  const said = error instanceof UpstreamRefused ? insertedBy(error, begun) : undefined;
  if (said) {
    for (const one of said) await noteInserted(backing, one, asked, rollback);
    return;
  }
  if (error instanceof UpstreamRefused && isBeforeInsert(error)) return;
  rollback.mayHaveCreated(kind, () => candidates(backing, kind, begun, asked));
}

/** A redirect, or a page with a status of refusal: a firewall before WordPress answers so, and a plugin that ends the request once it is saved. */
const isByPage = ({ status = 0 }: UpstreamAway): boolean =>
  status >= 300 && status < 500 && status !== 401 && status !== 429;

/** One record that the CMS says this request inserted. What the gateway cannot read or does not map is named and stays. */
async function noteInserted(
  backing: Backing,
  { collection, id: nativeId }: { collection: string; id: number },
  asked: CallerOf,
  rollback: Rollback,
): Promise<void> {
  const { mapping, upstream } = backing;
  if (collection === 'media') return rollback.created('image', nativeId);
  const kind = KINDS.find((one) => mapping.kinds[one]?.base === collection);
  if (!kind) return;
  const id = fittedId(mapping, collection, nativeId);
  const found = mapping.kinds[kind] as unknown as KindMapping<Kind>;
  const query = found.as === 'posts' ? { context: 'edit' } : {};
  const record = await upstream
    .read(collection, id, query, callOptions(asked))
    .then((native) => found.read(whole(backing, kind, native), backing.site(), backing.sync.joins()))
    .catch(() => undefined);
  rollback.created(kind, id, record);
}

const NEWEST = 100;

/**
 * Ids of the author's records of this kind that are newer than everything known before the create, and that no other request of this
 * gateway created. Throws when the CMS does not show all of them.
 */
async function candidates(backing: Backing, kind: CreatedKind, begun: Begun, asked: CallerOf): Promise<number[]> {
  const { known, author = asked.caller.account!.userId } = begun;
  // The replica has only those images that records show: no id tells which uploads are new.
  if (kind === 'image') throw new Error('new uploads cannot be told from others');
  const { base, as } = backing.mapping.kinds[kind]!;
  const newest = { orderby: 'id', order: 'desc', per_page: NEWEST, _fields: 'id' };
  const query =
    as === 'posts' ? { ...newest, author, status: 'any', context: 'edit' } : { ...newest, hide_empty: false };
  const { items } = await backing.upstream.list(base, query, callOptions(asked));
  const ids = items.map(({ id }) => Number(id));
  const newer = ids.filter((id) => id > known);
  if (newer.length === NEWEST) throw new Error('more new records than one page shows');
  return newer.filter((id) => !backing.acknowledged.has(`${kind} ${id}`));
}
