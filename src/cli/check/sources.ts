// The check of the sources: reads each as the gateway would.

import { leftOutText, readSource, SOURCE_ADVICE } from '../read-source.ts';
import { pluralized } from '../table.ts';
import { type Check, fail, ok, warn } from './checks.ts';

const LEFT_OUT_ADVICE = 'Ask the owner of this calendar to correct them. The gateway serves the others.';

export const SOURCES_CHECK: Check = {
  area: 'sources',
  run: ({ config, site }) =>
    Promise.all(
      config.sources.map(async (source) => {
        const { name } = source;
        const snapshot = await readSource(source, config.sync.privateSources, site.timezone);
        if (typeof snapshot === 'string') return { name, ...fail(snapshot, SOURCE_ADVICE) };
        const { events, leftOut, notes = [] } = snapshot;
        const left = leftOut.map((each) => `left out: ${leftOutText(each)}`);
        const message = [pluralized(events.length, 'event'), ...notes.map(leftOutText), ...left].join('; ');
        return { name, ...(leftOut.length > 0 ? warn(message, LEFT_OUT_ADVICE) : ok(message)) };
      }),
    ),
};
