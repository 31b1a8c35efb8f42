// The check of the sources: reads each as the gateway would. What was merged, only a running gateway knows.

import { adminUrl } from '../../config.ts';
import type { SourceSettings } from '../../config-schema.ts';
import type { Sources } from '../../sync/sources/sources.ts';
import { readSource, remarkText, SOURCE_ADVICE } from '../read-source.ts';
import { pluralized } from '../table.ts';
import { type CheckContext, type Finding, fail, ok, warn } from './checks.ts';

type Status = Partial<ReturnType<Sources['status']>>;

const STATUS_TIMEOUT_MS = 3000;
const REMARKS_ADVICE = 'Ask the owner of this calendar to correct them: some of these events may be left out.';

/** All that this check needs of the context: without a CMS there is nothing else. */
type Context = Pick<CheckContext, 'config' | 'site'>;

export async function checkSources(context: Context): Promise<Finding[]> {
  const { sources, listen } = context.config;
  if (sources.length === 0) return [];
  const status = await readStatus(adminUrl(listen, '/status'));
  return Promise.all(sources.map((source) => judge(source, context, status)));
}

/** Nothing of a gateway that does not run, or runs without sources. */
async function readStatus(url: string): Promise<Status> {
  try {
    return (await (await fetch(url, { signal: AbortSignal.timeout(STATUS_TIMEOUT_MS) })).json()) as Status;
  } catch {
    return {};
  }
}

async function judge(source: SourceSettings, { config, site }: Context, status: Status): Promise<Finding> {
  const { name } = source;
  const snapshot = await readSource(source, config.sync.privateSources, site.timezone);
  if (typeof snapshot === 'string') return fail(name, snapshot, SOURCE_ADVICE);
  const { events, remarks } = snapshot;
  const parts = [pluralized(events.length, 'event'), mergedText(name, status), ...remarks.map(remarkText)];
  const message = parts.filter((part) => part !== '').join('; ');
  return remarks.length > 0 ? warn(name, message, REMARKS_ADVICE) : ok(name, message);
}

/** `merged` lists the first hundred merges of all sources: of a further one nobody knows why. */
function mergedText(name: string, { sources = [], merged = [] }: Status): string {
  const count = sources.find((source) => source.name === name)?.merged ?? 0;
  if (count === 0) return '';
  const reasons = [...new Set(merged.filter(({ source }) => source === name).map(({ why }) => why))];
  const why = reasons.length > 0 ? ` (${reasons.join('; ')})` : '';
  return `the running gateway shows ${count} as another calendar's${why}`;
}
