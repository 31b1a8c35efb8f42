// Mutants of the replica, its sync and the mapping.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are parts of sources.

import { type Mutant, mutantsOf } from './mutant.ts';

export const REPLICA_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('src/mapping/compile.ts', 'test/sync/complete-records.test.ts', {
    'the meta key that hides events must exist': {
      function: 'requiredPaths',
      code: "_1.property === 'hidden' ? _2.filter((_3) => _3.startsWith('meta.')) : []",
      replacement: '[]',
      title: 'hides events',
    },
  }),
  ...mutantsOf('src/mapping/read-record.ts', 'test/http/visibility.test.ts', {
    'the search text of a protected record has only its public parts': {
      function: 'searchTextOf',
      code: '_1.protected === true',
      replacement: '_1.protected === 0',
      title: 'searches find',
    },
  }),
  ...mutantsOf('src/store/full-text-index.ts', 'test/store/event-search.test.ts', {
    'the full-text index takes a few milliseconds for a text of very many different letters': {
      function: 'searchedText',
      code: '.slice(0, _1)',
      title: 'takes a few milliseconds',
    },
  }),
  ...mutantsOf('src/store/post-rows.ts', 'test/http/visibility.test.ts', {
    'a protected event does not match the filter for featured events': {
      function: 'insertEvent',
      code: '_1.featured && !_2 ? 1 : 0',
      replacement: '_1.featured ? 1 : 0',
      title: 'filters of events',
    },
    'a protected event does not match the filter for cancelled events': {
      function: 'insertEvent',
      code: "_1 ? '' : _2.eventStatus",
      replacement: '_2.eventStatus',
      test: 'test/calendar/event-state.test.ts',
      title: 'is hidden by a password',
    },
    'no filter matches the protected parts of an event': {
      function: 'insertEvent',
      code: '_1 ? PROTECTED : _2.hidden ? HIDDEN : LISTED',
      replacement: '_2.hidden ? HIDDEN : LISTED',
      title: 'filters of events',
    },
    'hidden events are in no list': {
      function: 'insertEvent',
      code: 'listing: _1.hidden ? HIDDEN : LISTED,',
      replacement: 'listing: LISTED,',
      title: 'no hidden events',
    },
  }),
  ...mutantsOf('src/store/changes.ts', 'test/store/replica.test.ts', {
    'the replica stores published posts only': {
      code: "else if (_1.status === 'publish') this.#upsertPost(_1);\n    else this.delete(_1.kind, _1.id, _1.status === 'trash');",
      replacement: 'else this.#upsertPost(_1);',
    },
    'a record that a caller wrote is in no list until visitors get it': {
      code: 'record: JSON.stringify(_1) });\n    deletePost(this.#db, PUBLIC, _2);',
      replacement: 'record: JSON.stringify(_1) });',
      title: 'is in no list',
    },
  }),
  ...mutantsOf('src/store/database.ts', 'test/process/damage.test.ts', {
    'damage at run time is reported': {
      code: 'this.#onDamage(_1.message);',
      title: 'every third page',
    },
  }),
  ...mutantsOf('src/store/lists.ts', 'test/http/visibility.test.ts', {
    'terms, venues and organizers of a protected event are not listed': {
      function: 'isLinked',
      code: 'AND l.listing <> ${raw(PROTECTED)}',
      title: 'of an event are those',
    },
    'an embedded record is listed with an event that is': {
      function: 'listLinked',
      code: 'OR ${isLinked(_1, isListed)}',
      replacement: 'OR 1',
      test: 'test/calendar/list-filters.test.ts',
      title: 'an embedded venue',
    },
    'a protected event counts for no term': {
      function: 'fromCountedLinks',
      code: 'AND l.listing <> ${raw(PROTECTED)}',
      title: 'counts of terms',
    },
  }),
];
