// Prints for each iCalendar file of a directory what the reader serves and what it leaves out:
// `node test/cms/sources/look.ts DIR [TIMEZONE]`.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readICalendar } from '../../../src/cms/sources/icalendar.ts';

const [directory = '.', timezone = 'Europe/Berlin'] = process.argv.slice(2);
for (const name of readdirSync(directory).sort()) {
  if (!/\.(ics|ical|icalendar)$/i.test(name)) continue;
  const bytes = readFileSync(join(directory, name));
  const eventsIn = bytes.toString('latin1').match(/^BEGIN:VEVENT/gim)?.length ?? 0;
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const startMs = performance.now();
  try {
    const { events, remarks } = await readICalendar(bytes, { timezone, nowMs: Date.now() });
    const reasons = remarks.map(({ reason, count, example }) => `${count} ${reason} (${example})`);
    console.log([name, eventsIn, events.length, reasons.join('; ')].join('\t'));
    if (process.env.SHOW) console.log(JSON.stringify(events.slice(0, Number(process.env.SHOW)), undefined, 1));
  } catch (error) {
    console.log([name, eventsIn, 'not read', String(error)].join('\t'));
  }
  delay.disable();
  if (process.env.TIMES)
    console.log(`  ${Math.round(performance.now() - startMs)} ms, loop ${Math.round(delay.max / 1e6)} ms`);
}
