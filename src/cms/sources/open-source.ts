// Opens the source that the settings name.

import type { SourceSettings } from '../../config-schema.ts';
import { EventsApi } from './events-api.ts';
import { createICalendarSource } from './icalendar.ts';
import type { Source } from './source.ts';

/** `timezone`: of times in a file that names none. */
export function openSource(
  { icalendar, events }: SourceSettings,
  options: { allowPrivate: boolean; timezone: () => string },
): Source {
  const { allowPrivate, timezone } = options;
  if (icalendar !== undefined) return createICalendarSource({ url: icalendar, allowPrivate, timezone, now: Date.now });
  return new EventsApi(events!, { allowPrivate });
}
