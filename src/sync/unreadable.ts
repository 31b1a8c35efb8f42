// Owns which collections the sync cannot read at present, and what becomes of that: "absent" is one that the site does
// not have, "refused" one that it shows to no visitor. The replica keeps the records of both: no absence ever deletes a
// record, because a plugin may be inactive for a minute only.

import type { CollectionSpec } from '../cms/port.ts';
import { CmsRejected } from '../errors.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import { visitorOptions } from './cms-reader.ts';
import { countRecords, type SyncContext } from './context.ts';
import { READ_AS } from './sync-state.ts';

/**
 * Runs a step that reads something as a visitor. Resolves with undefined, and the replica keeps what it has, if
 * - the site refuses visitors, for members only or during maintenance. If it refuses an account, the poll fails;
 * - the site says that it has no such collection (`spec`). A 404 of a proxy, or of a plugin that hides a route, is a
 *   failure like any other.
 */
export async function tryToRead<T>(
  context: SyncContext,
  name: string,
  step: () => Promise<T>,
  spec?: CollectionSpec,
): Promise<T | undefined> {
  const { cms, memory, observe, visitorCredentials } = context;
  try {
    const result = await step();
    memory.unreadable.delete(name);
    return result;
  } catch (error) {
    if (!(error instanceof CmsRejected)) throw error;
    if (visitorCredentials === undefined && error.refusesAccess) {
      memory.unreadable.set(name, { isAbsent: false, answer: `${error.status} ${error.code}` });
      return undefined;
    }
    if (!spec || error.kind !== 'no-collection') throw error;
    context.tally.requests += 1;
    if (await cms.hasCollection(spec, visitorOptions(context))) throw error;
    const message = `the site has no collection "${name}": the gateway serves what it has read of it before`;
    if (!isAbsent(context, name)) observe({ type: 'message', level: 'warn', message });
    memory.unreadable.set(name, { isAbsent: true, answer: error.message });
    return undefined;
  }
}

const isAbsent = ({ memory }: SyncContext, name: string): boolean => memory.unreadable.get(name)?.isAbsent === true;

/** The error by which a collection that `tryToRead` has noted fails the initial sync of a site. */
export function unreadableError(context: SyncContext, { collection: name }: KindMapping): CmsRejected {
  const { isAbsent, answer } = context.memory.unreadable.get(name)!;
  if (!isAbsent) return new CmsRejected('forbidden', `"${name}" (${answer}).`);
  const remedy = 'Activate the plugin that has it, or correct the mapping; the command "check" says more.';
  return new CmsRejected('no-collection', `the site has no collection "${name}". ${remedy}`);
}

/** Which collections are refused; and which are absent, if the replica keeps records of them, or if they are events. */
export function unreadableReasons(context: SyncContext): string[] {
  const { memory, collections } = context;
  const refused = [...memory.unreadable].filter(([, { isAbsent }]) => !isAbsent);
  const named = refused.map(([name, { answer }]) => `"${name}" (${answer})`).join(', ');
  const kept = collections.flatMap((kindMapping) => {
    if (!isAbsent(context, kindMapping.collection)) return [];
    const count = countRecords(context, kindMapping);
    if (count === 0 && kindMapping.kind !== 'event') return [];
    return `"${kindMapping.collection}", of which the replica keeps ${count} records`;
  });
  return [
    ...(refused.length > 0 ? [`the site refuses visitors ${named}: the gateway keeps what it has. ${READ_AS}`] : []),
    ...(kept.length > 0 ? [`the site no longer has ${kept.join(', ')}`] : []),
  ];
}
