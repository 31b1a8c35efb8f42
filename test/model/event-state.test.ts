// The words of an event's state are in the places that no compiler reads.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ATTENDANCE_MODES, EVENT_STATUSES } from '../../src/model/event-state.ts';

/** The words in the first match of the expression, in backticks or quotation marks. */
function wordsIn(file: string, row: RegExp): string[] {
  const [, words = ''] = row.exec(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')) ?? [];
  return words.match(/[a-z_]{3,}(?=[`'])/g) ?? [];
}

describe("the words of an event's state", () => {
  for (const [file, statuses, modes] of [
    ['docs/extensions.md', /^\| `event_status` \| ([^;|]*)/m, /^\| `attendance_mode` \| ([^;|]*)/m],
    ['sandbox/payload/collections.ts', /'eventStatus'.*\[(.*)\]/, /'attendanceMode'.*\[(.*)\]/],
  ] as const)
    it(`are in ${file}`, () => {
      expect(wordsIn(file, statuses)).to.deep.equal(EVENT_STATUSES);
      expect(wordsIn(file, modes)).to.deep.equal(ATTENDANCE_MODES);
    });
});
