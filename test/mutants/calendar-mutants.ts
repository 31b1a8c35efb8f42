// Mutants of the use cases: visibility and permissions.

import { type Mutant, mutantsOf } from './mutant.ts';

export const CALENDAR_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('src/calendar/request.ts', 'test/calendar/permissions.test.ts', {
    'a write is not rejected while the permissions are unknown': {
      function: 'read',
      code: 'ifRejected(() => undefined)',
      replacement: '() => undefined',
      title: 'does not answer',
    },
  }),
  ...mutantsOf('src/calendar/read-post.ts', 'test/calendar/public-view.test.ts', {
    'only what the replica has of an event is cached for others': {
      function: 'singlePost',
      code: '_1 ? getRecord(_2, _3, _4) : undefined',
      replacement: '_1 ? record : undefined',
    },
  }),
  ...mutantsOf('src/mapping/read-record.ts', 'test/http/visibility.test.ts', {
    'the response to a create contains no protected record': {
      function: 'searchTextOf',
      code: '_1.protected === true',
      replacement: '_1.protected === 0',
      title: 'a create never',
    },
  }),
  ...mutantsOf('src/calendar/list-response.ts', 'test/faults/limits.test.ts', {
    'size of a page': {
      function: 'requestedPage',
      code: 'Math.min(Number(_1.per_page ?? _2), _3)',
      replacement: 'Number(_1.per_page ?? _2)',
      title: 'caps the page size',
    },
  }),
  ...mutantsOf('src/calendar/anonymous-limits.ts', 'test/calendar/password-attempts.test.ts', {
    'anonymous callers try a bounded number of passwords': {
      function: 'read',
      code: 'if (!this.#correct.has(_1) && !this.#takeAttempts(1)) throw tooManyPasswords();',
      title: 'cost the CMS one call a second',
    },
  }),
  ...mutantsOf('src/calendar/request.ts', 'test/calendar/permissions.test.ts', {
    'unknown permissions are granted to no actor': {
      function: 'can',
      code: '_1 !== undefined && (_2.account?.permissions.has(_1[_3]) ?? false)',
      replacement: '_1 === undefined || (_2.account?.permissions.has(_1[_3]) ?? false)',
      title: 'granted to no actor',
    },
  }),
  ...mutantsOf('src/calendar/read-post.ts', 'test/calendar/list-filters.test.ts', {
    'an embedded record is known only by an event that shows it': {
      function: 'postExists',
      code: '&& mayKnow(_1, _2, _3)',
      title: 'an embedded venue',
    },
    'a failed read does not count as a missing record': {
      function: 'findInCms',
      code: 'ifRejected(_1)',
      replacement: '() => []',
      test: 'test/calendar/unknown-records.test.ts',
      title: 'while the CMS is unavailable',
    },
  }),
  ...mutantsOf('src/calendar/serializer.ts', 'test/http/visibility.test.ts', {
    'JSON-LD of an event leaves protected venues and organizers out': {
      function: 'unprotectedRecords',
      code: '.filter((_1) => !_1.protected)',
      title: 'single reads show',
    },
  }),
  ...mutantsOf('src/calendar/anonymous-limits.ts', 'test/calendar/unknown-records.test.ts', {
    'anonymous callers cause a bounded number of CMS calls per second': {
      function: 'createTokens',
      code: 'if (_1 < _2) return false;',
    },
  }),
  ...mutantsOf('src/text/text.ts', 'test/text/linear-time.test.ts', {
    'long sequences of combining marks are not sorted': {
      function: 'normalizeUnicode',
      code: '_1.replace(MARKS, truncateMarks).normalize(_2)',
      replacement: '_1.normalize(_2)',
      title: 'for as many marks as any language writes',
    },
  }),
];
