// The concerts from today on, rendered on the server.

import { createCalendarClient } from 'calendar-gateway/client';

const { CALENDAR_URL: baseUrl = 'http://localhost:3000/calendar/events/v1' } = process.env;

/** The page is new after a minute. */
export const revalidate = 60;

export default async function Page() {
  const calendar = createCalendarClient({ baseUrl });
  const concerts = await Array.fromAsync(
    calendar.records('/events', { start_date: 'today', categories: ['concerts'], per_page: 50 }),
  );
  return (
    <main>
      <h1>Concerts</h1>
      <ul>
        {concerts.map(({ id, start_date, title, url }) => (
          <li key={id}>
            {start_date.slice(0, 16)} <a href={url} dangerouslySetInnerHTML={{ __html: title }} />
          </li>
        ))}
      </ul>
    </main>
  );
}
