// What the lists of events, venues and organizers share: who sees which statuses, and bytes for the public or JSON for staff.

import type { PostKind, RecordOf } from '../records.ts';
import { PUBLIC, type Visibilities, type Visibility } from '../replica/filters.ts';
import type { Answer, Asked, Input } from './asked.ts';
import type { Backing } from './backing.ts';
import { visibilitiesFor } from './capabilities.ts';
import type { Page } from './paging.ts';
import { totalPages } from './paging.ts';
import type { Audience, Json } from './present.ts';
import { joined, readyEntries, type Show } from './ready.ts';
import { notReady, pageNotFound } from './refusals.ts';
import { ANY_STATUS, isPublicOnly, seesMore, within } from './visibility.ts';

export interface Viewing {
  /** The statuses that the list covers, narrowed to what the caller may see. */
  visibility: Visibility;
  /** The events that conditions of a list of venues or organizers count: all that the caller may see outside the trash. */
  events: Visibility;
  /** What the caller may see of each kind at all: decides which linked records are shown. */
  whole: Visibilities;
  /** As `rest_url` repeats it. */
  status: string;
  /** Whether the caller sees nothing beyond what everybody sees, of any kind: the answer is everybody's. */
  isPublic: boolean;
}

/**
 * Who is looking at a list, and at which statuses (interface-behaviour 3.3). Brings in what a caller may see beyond the public where no
 * service account keeps it in the copy.
 * @throws GatewayError 503 until the first copy is complete
 */
export async function viewing(backing: Backing, kinds: PostKind[], input: Input, asked: Asked): Promise<Viewing> {
  if (!backing.sync.standing().complete) throw notReady(backing.sync.status().percent);
  const whole = await visibilitiesFor(backing, asked);
  const listed = whole[kinds[0]!];
  const staff = seesMore(listed);
  const sent = input.values.status as string[] | undefined;
  const statuses = sent ?? (staff ? ANY_STATUS : ['publish']);
  const { credentials } = asked.caller;
  const requestId = asked.requestId ? { requestId: asked.requestId } : {};
  for (const kind of kinds)
    if (seesMore(whole[kind]))
      await backing.sync.gather({ credentials, visibility: whole[kind], ...requestId }, [kind]);
  const visibility = staff ? within(listed, statuses) : PUBLIC;
  const status = sent ? sent.join(',') : staff ? 'any' : 'publish';
  return { visibility, events: within(whole.event, ANY_STATUS), whole, status, isPublic: isPublicOnly(whole) };
}

export interface Listed<K extends PostKind> {
  kind: K;
  /** Key of the entries in the envelope. */
  name: string;
  ids: number[];
  total: number;
  page: Page;
  links: Record<string, string>;
  show: Show<K>;
  validUntilMs: number;
}

/** The list as an answer. Throws 404 for a page behind the last one. */
export function listAnswer<K extends PostKind>(
  backing: Backing,
  listed: Listed<K>,
  viewer: Viewing,
  base: string,
): Answer {
  const { kind, name, ids, total, page, show } = listed;
  const pages = totalPages(total, page.perPage);
  if (page.page > Math.max(pages, 1)) throw pageNotFound(kind);
  const rest: Json = { ...listed.links, total, total_pages: pages };
  const headers = { 'X-TEC-Total': String(total), 'X-TEC-TotalPages': String(pages) };
  const audience: Audience = { base, visibility: viewer.whole };
  if (viewer.isPublic) {
    const { parts, etag, tags } = joined(name, readyEntries(backing, kind, ids, audience, show), rest);
    return {
      status: 200,
      body: parts,
      etag,
      headers,
      tags,
      validUntilMs: listed.validUntilMs,
      version: backing.replica.version,
    };
  }
  const records = backing.replica.getMany(kind, ids) as Map<number, RecordOf[K]>;
  const entries = ids.flatMap((id) => {
    const record = records.get(id);
    return record ? [show(record, audience)] : [];
  });
  return { status: 200, body: { [name]: entries, ...rest }, headers };
}
