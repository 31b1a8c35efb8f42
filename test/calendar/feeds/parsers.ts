// Reads iCalendar files with two independent parsers: ical.js and node-ical.

import ICAL from 'ical.js';
import nodeIcal from 'node-ical';

/** What both parsers say of an event. */
export interface ParsedEvent {
  uid: string;
  summary: string;
  description: string | undefined;
  location: string | undefined;
  status: string;
  sequence: number;
  /** In milliseconds since 1970; of an all-day event, midnight UTC of its dates. */
  startMs: number;
  endMs: number | undefined;
  allDay: boolean;
}

const instant = (time: ICAL.Time): number =>
  time.isDate ? Date.UTC(time.year, time.month - 1, time.day) : time.toUnixTime() * 1000;

/** Reads times with the time zones of the file alone. Throws for a line that is not iCalendar. */
export function parseWithIcalJs(text: string): ParsedEvent[] {
  ICAL.TimezoneService.reset();
  const calendar = new ICAL.Component(ICAL.parse(text));
  return calendar.getAllSubcomponents('vevent').map((component) => {
    const value = (name: string) => component.getFirstPropertyValue(name);
    const [start, end] = [value('dtstart') as ICAL.Time, value('dtend') as ICAL.Time | null];
    return {
      uid: String(value('uid')),
      summary: String(value('summary')),
      description: (value('description') as string | null) ?? undefined,
      location: (value('location') as string | null) ?? undefined,
      status: String(value('status')),
      sequence: Number(value('sequence')),
      startMs: instant(start),
      endMs: end === null ? undefined : instant(end),
      allDay: start.isDate,
    };
  });
}

/** Reads times with the time zones of this process. */
function parseWithNodeIcal(text: string): ParsedEvent[] {
  const midnight = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Object.values(nodeIcal.sync.parseICS(text)).flatMap((component) => {
    if (component?.type !== 'VEVENT') return [];
    const allDay = component.datetype === 'date';
    const toMs = (date: Date) => (allDay ? midnight(date) : date.getTime());
    const isGiven = /^DTEND/m.test(text);
    return [
      {
        uid: component.uid,
        summary: String(component.summary),
        description: component.description as string | undefined,
        location: component.location as string | undefined,
        status: String(component.status),
        sequence: Number(component.sequence),
        startMs: toMs(component.start),
        endMs: isGiven && component.end ? toMs(component.end) : undefined,
        allDay,
      },
    ];
  });
}

export const PARSERS = { 'ical.js': parseWithIcalJs, 'node-ical': parseWithNodeIcal };
