// What events, venues and organizers share when they are written: author, publication date, status and image.

import type { PostFields, PostKind } from '../records.ts';
import { utcZone } from '../time/zones.ts';
import type { Asked, Input, Rollback } from './asked.ts';
import { type Backing, zoneOf } from './backing.ts';
import { writtenWall } from './dates.ts';
import { mayGiveAuthor, statusFor } from './writes.ts';

const AS_SENT = ['title', 'description', 'excerpt', 'slug', 'author'] as const;

/**
 * The common fields of a body, ready for the mapping. A status `trash` is no status to store: whoever writes moves the record there
 * afterwards.
 */
export async function postFields(
  backing: Backing,
  kind: PostKind,
  { fields: sent }: Input,
  { asked, publisher, creating }: { asked: Asked; publisher: boolean; creating: boolean },
): Promise<Partial<PostFields>> {
  await mayGiveAuthor(backing, kind, sent.author, asked);
  const fields: Record<string, unknown> = {};
  for (const name of AS_SENT) if (sent[name] !== undefined) fields[name] = sent[name];
  const nowMs = backing.nowMs();
  if (sent.date !== undefined) fields.date = writtenWall('date', String(sent.date), { nowMs, zone: zoneOf(backing) });
  if (sent.dateUtc !== undefined)
    fields.dateUtc = writtenWall('date_utc', String(sent.dateUtc), { nowMs, zone: utcZone });
  const status = statusFor(sent.status as string | undefined, publisher, creating);
  if (status === 'trash') {
    if (creating) fields.status = 'draft';
  } else if (status !== undefined) fields.status = status;
  return fields;
}

/** The image of a body, uploaded if necessary. Call it last: no rollback removes an upload. */
export async function imageField(
  { fields: sent }: Input,
  asked: Asked,
  rollback: Rollback,
): Promise<Pick<PostFields, 'image'> | undefined> {
  return sent.image === undefined ? undefined : { image: await asked.images.idOf(String(sent.image), rollback) };
}
