// The check of the sources: reads each as the gateway would.

import type { SourceSettings } from '../../config-schema.ts';
import { readSource, remarkText, SOURCE_ADVICE } from '../read-source.ts';
import { pluralized } from '../table.ts';
import { type CheckContext, type Finding, fail, ok, warn } from './checks.ts';

const REMARKS_ADVICE = 'Ask the owner of this calendar to correct them: some of these events may be left out.';

/** All that it needs of the context: without a CMS there is nothing else. */
type Context = Pick<CheckContext, 'config' | 'site'>;

export const checkSources = (context: Context): Promise<Finding[]> =>
  Promise.all(context.config.sources.map((source) => checkSource(source, context)));

async function checkSource(source: SourceSettings, { config, site }: Context): Promise<Finding> {
  const { name } = source;
  const snapshot = await readSource(source, config.sync.privateSources, site.timezone);
  if (typeof snapshot === 'string') return fail(name, snapshot, SOURCE_ADVICE);
  const { events, remarks } = snapshot;
  const message = [pluralized(events.length, 'event'), ...remarks.map(remarkText)].join('; ');
  return remarks.length > 0 ? warn(name, message, REMARKS_ADVICE) : ok(name, message);
}
