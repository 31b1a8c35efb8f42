// The words of an event's state are in the places that no compiler reads.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ATTENDANCE_MODES, EVENT_STATUSES } from '../../src/model/event-state.ts';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

describe("the words of an event's state", () => {
  it('are in docs/extensions.md, in the table of the state', () => {
    for (const [name, words] of Object.entries({ event_status: EVENT_STATUSES, attendance_mode: ATTENDANCE_MODES }))
      expect(read('docs/extensions.md')).to.include(`| \`${name}\` | ${words.map((each) => `\`${each}\``).join(', ')}`);
  });

  it("are what the select fields of the sandbox's Payload offer (sandbox/payload/collections.ts)", () => {
    for (const [name, words] of Object.entries({ eventStatus: EVENT_STATUSES, attendanceMode: ATTENDANCE_MODES }))
      expect(read('sandbox/payload/collections.ts')).to.include(
        `name: '${name}', type: 'select', options: [${words.map((each) => `'${each}'`).join(', ')}]`,
      );
  });
});
