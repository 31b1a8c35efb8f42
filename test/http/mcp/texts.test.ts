// The plain text of an event for an assistant: every line that has something to say, and no other.

import { expect } from 'chai';
import { eventText } from '../../../src/http/mcp/texts.ts';

const EVENT = {
  ...{ id: 5, title: 'Market', status: 'publish', url: 'https://site.example/market' },
  ...{ all_day: false, start_date: '2027-05-01 19:30:00', end_date: '2027-05-01 22:00:00', timezone: 'Europe/Berlin' },
  ...{ venue: [], organizer: [], categories: [], cost: '', description: '' },
};
const TIMES = '2027-05-01 19:30 to 22:00 (Europe/Berlin)';

describe('the text of an event', () => {
  const linesOf = (changes: object = {}) => eventText({ ...EVENT, ...changes }).split('\n');

  it('has no line for what the event lacks', () => {
    expect(linesOf()).to.deep.equal(['Event 5: Market', TIMES, EVENT.url]);
    expect(linesOf({ start_date: '', end_date: '' })).to.deep.equal(['Event 5: Market', EVENT.url]);
    expect(linesOf({ cost: '10', categories: [{ name: 'Food' }] })).to.deep.equal([
      ...['Event 5: Market', TIMES, 'Categories: Food', 'Cost: 10', EVENT.url],
    ]);
  });

  it('names the id and the status of an event without a title', () => {
    expect(linesOf({ title: '' })).to.deep.equal(['Event 5:', TIMES, EVENT.url]);
    expect(linesOf({ title: '', event_status: 'cancelled' })).to.deep.equal([
      ...['Event 5: Cancelled', TIMES, 'Event status: cancelled', EVENT.url],
    ]);
  });
});
