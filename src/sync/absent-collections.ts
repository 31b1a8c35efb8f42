// Owns which collections of the mapping the site does not have, because a plugin is inactive or has switched
// them off. The sync continues with the others.

import { CmsRejected } from '../errors.ts';
import { serviceOptions } from './cms-reader.ts';
import type { Collection } from './collections.ts';
import type { SyncContext } from './context.ts';
import { countRecords } from './replica-records.ts';

/**
 * Runs a step that reads the collection. Resolves with undefined if the site itself says that it has no such
 * collection: a 404 of a proxy or of a plugin that hides a route is a failure as any other. Throws what the
 * CMS throws.
 */
export async function unlessAbsent<T>(
  context: SyncContext,
  { kind, name, spec }: Collection,
  step: () => Promise<T>,
): Promise<T | undefined> {
  const { cms, memory, observe } = context;
  const log = (message: string) => observe({ type: 'message', level: 'warn', message });
  try {
    const result = await step();
    if (memory.absent.delete(kind)) log(`the site has the collection "${name}" again`);
    return result;
  } catch (error) {
    if (!(error instanceof CmsRejected) || error.kind !== 'no-collection') throw error;
    memory.counts.requests += 1;
    if (await cms.hasCollection(spec, serviceOptions(context))) throw error;
    if (!memory.absent.has(kind))
      log(`the site has no collection "${name}": the gateway serves no record of it that it has not read before`);
    memory.absent.add(kind);
    return undefined;
  }
}

export const isAbsent = ({ memory }: SyncContext, { kind }: Pick<Collection, 'kind'>): boolean =>
  memory.absent.has(kind);

/**
 * Fails the initial sync of a site without the collection of events: it would serve an empty calendar as if
 * the site had no events.
 */
export function noEventsError({ name }: Collection): CmsRejected {
  const remedy = 'Activate the plugin that has it, or correct the mapping; the command "check" says more.';
  return new CmsRejected('no-collection', `the site has no collection "${name}" of events. ${remedy}`);
}

/**
 * Which records the replica keeps although the site no longer has their collection; undefined if there are
 * none. The collection of events is named without records too. A plugin may be inactive for a minute only, so
 * that no absence ever deletes a record.
 */
export function absenceReason(context: SyncContext): string | undefined {
  const kept = context.collections.flatMap((collection) => {
    if (!isAbsent(context, collection)) return [];
    const count = countRecords(context, collection);
    return count > 0 || collection.kind === 'event'
      ? `"${collection.name}", of which the replica keeps ${count} records`
      : [];
  });
  return kept.length === 0 ? undefined : `the site no longer has ${kept.join(', ')}`;
}
