// The events of a month: weeks as grids, in which an event of several days is one bar per week.

import { textLine } from '../../text/html.ts';
import { addDays, shiftMonth, spanOf, weekdayOf } from './dates.ts';
import { hrefOf } from './landing-query.ts';
import { type ColoredView, legend } from './legend.ts';
import { type Html, html } from './page-template.ts';
import type { EventList, PublicEvent } from './read-events.ts';

export interface MonthView extends ColoredView {
  today: string;
  month: string;
}

/** Rows of bars in a week. In `events.css`, `c2 s3 r0 k1` is from the third column, 3 wide, in row 0, colour 1. */
const ROWS = 4;

/** The days from the first week of the month to its last. */
export function monthRange(month: string, firstWeekday: number): { first: string; last: string } {
  const first = `${month}-01`;
  const last = addDays(`${shiftMonth(month, 1)}-01`, -1);
  const daysSince = (day: string) => (weekdayOf(day) - firstWeekday + 7) % 7;
  return { first: addDays(first, -daysSince(first)), last: addDays(last, 6 - daysSince(last)) };
}

export function monthGrid(ofMonth: EventList, view: MonthView): Html {
  const { month, language } = view;
  const { dates, texts } = language;
  const { first, last } = monthRange(month, dates.firstWeekday);
  const weeks: string[][] = [];
  for (let day = first; day <= last; day = addDays(day, 7))
    weeks.push(Array.from({ length: 7 }, (_, offset) => addDays(day, offset)));
  const missing = ofMonth.total - ofMonth.events.length;
  const weekdays = weeks[0]!.map((day) => html`<span>${dates.format('weekday', day)}</span>`);
  return html`<div class="weekdays" aria-hidden="true">${weekdays}</div>
${ofMonth.total === 0 && html`<p class="empty">${texts.noEvents}</p>`}
${weeks.map((days) => week(days, ofMonth, view))}
${missing > 0 && html`<p class="empty">${language.counted(texts.moreInList, missing)}</p>`}
${legend(ofMonth, view)}`;
}

interface Bar {
  event: PublicEvent;
  /** Columns of the week, from 0. */
  from: number;
  to: number;
  startsHere: boolean;
  endsHere: boolean;
}

function week(days: string[], { events }: EventList, view: MonthView): Html {
  const bars = barsOf(days, events);
  const { rows, hidden } = placed(bars);
  const { language } = view;
  const counted = (others: number) => language.counted(language.texts.more, others);
  return html`<ol class="week">${days.map((day, column) => {
    const shown = rows.flatMap((inRow, row) =>
      inRow.filter(({ from }) => from === column).map((bar) => barLink(bar, row, view)),
    );
    const classes = `c${column}${day === view.today ? ' today' : ''}${day.startsWith(view.month) ? '' : ' other'}`;
    const others = hidden[column]!;
    const date = language.dates.format('dayAndYear', day);
    const ofDay = hrefOf(view.query, { day, view: undefined, month: undefined, page: 1 });
    return html`<li>
<time class="date ${classes}" datetime="${day}"><span class="visually-hidden">${date}</span>
<span aria-hidden="true">${Number(day.slice(8))}</span></time>
${shown}
${others > 0 && html`<a class="others c${column}" href="${ofDay}">${counted(others)}</a>`}
</li>`;
  })}</ol>`;
}

/** The bars of a week: by their first day, longer ones first. */
function barsOf(days: string[], events: PublicEvent[]): Bar[] {
  const [weekStart, weekEnd] = [days[0]!, days[6]!];
  return events
    .flatMap((event) => {
      const { first, last } = spanOf(event);
      if (last < weekStart || first > weekEnd) return [];
      // A day of another week has the index -1.
      const [from, to] = [days.indexOf(first), days.indexOf(last)];
      return { event, from: Math.max(from, 0), to: to < 0 ? 6 : to, startsHere: from >= 0, endsHere: to >= 0 };
    })
    .sort((a, b) => a.from - b.from || b.to - a.to);
}

/** Puts each bar into the first row that is free. `hidden` counts, for each day, the bars without a free row. */
function placed(bars: Bar[]): { rows: Bar[][]; hidden: number[] } {
  const rows: Bar[][] = Array.from({ length: ROWS }, () => []);
  const hidden = Array<number>(7).fill(0);
  for (const bar of bars) {
    const free = rows.find((inRow) => (inRow.at(-1)?.to ?? -1) < bar.from);
    if (free) free.push(bar);
    else for (let column = bar.from; column <= bar.to; column++) hidden[column]! += 1;
  }
  return { rows, hidden };
}

function barLink(
  { event, from, to, startsHere, endsHere }: Bar,
  row: number,
  { query, today, language, colorClass }: MonthView,
): Html {
  const { dates } = language;
  const span = spanOf(event);
  const isSeveralDays = span.last > span.first;
  const time = isSeveralDays
    ? html`<span class="visually-hidden">${dates.days(span, today)} </span>`
    : !event.all_day && html`<span class="clock">${dates.format('clock', event.start_date)}</span> `;
  const ends = `${startsHere ? '' : ' continued'}${endsHere ? '' : ' continues'}`;
  const classes = `c${from} s${to - from + 1} r${row} ${colorClass(event)}${ends}`;
  const href = hrefOf(query, { event: event.id });
  // Half a column has room for "Cancelled:" or for the title.
  const title =
    event.event_status === 'cancelled'
      ? html`<span class="visually-hidden">${language.state(event)}: </span><s>${textLine(event.title)}</s>`
      : language.title(event);
  return html`<a class="entry ${classes}" href="${href}" data-event="${event.id}">${time}${title}</a>`;
}
