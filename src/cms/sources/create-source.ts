// Makes the reader of the source that the settings name: of an iCalendar file, or of another API (`events`).

import type { SourceSettings } from '../../config-schema.ts';
import { createEventsSource } from './events-api.ts';
import { createICalendarSource } from './icalendar.ts';
import type { Source, SourceOptions } from './source.ts';

export const createSource = ({ icalendar, events }: SourceSettings, options: SourceOptions): Source =>
  icalendar === undefined ? createEventsSource(events!, options) : createICalendarSource(icalendar, options);
