// Mutants of the replica, its sync and the mapping.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are parts of sources.

import { type Mutant, mutantsOf } from './mutant.ts';

export const REPLICA_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('src/mapping/compile.ts', 'test/sync/complete-records.test.ts', {
    'the meta key that hides events must exist': {
      function: 'requiredPaths',
      code: "_1.key === 'hidden' ? _2.filter((_3) => _3.startsWith('meta.')) : []",
      replacement: '[]',
      title: 'hides events',
    },
  }),
  ...mutantsOf('src/cms/wordpress/record-form.ts', 'test/cms/public-view.test.ts', {
    'a search matches only text of the public view': {
      function: 'publicRaw',
      code: 'showsAllWords(_1, _2) ? _2 : _1',
      replacement: '_2',
    },
  }),
  ...mutantsOf('src/mapping/convert-record.ts', 'test/http/visibility.test.ts', {
    'the search text of a protected record has only its public parts': {
      function: 'searchTextOf',
      code: 'if (_1.protected === true) {',
      replacement: 'if (_1.protected === 0) {',
      title: 'searches find',
    },
  }),
  ...mutantsOf('src/store/full-text-index.ts', 'test/store/event-search.test.ts', {
    'the full-text index leaves out texts of very many different letters': {
      function: 'isIndexed',
      code: 'return _1.size <= _2.trigrams;',
      title: 'takes a few milliseconds',
    },
  }),
  ...mutantsOf('src/store/counters.ts', 'test/http/visibility.test.ts', {
    'a protected event does not match the filter for featured events': {
      function: 'featuredColumn',
      code: '_1.featured && !_1.protected ? 1 : 0',
      replacement: '_1.featured ? 1 : 0',
      title: 'filters of events',
    },
  }),
  ...mutantsOf('src/store/upsert.ts', 'test/calendar/event-state.test.ts', {
    'a protected event does not match the filter for cancelled events': {
      function: 'beginBatch.insertEvent',
      code: "_1.protected ? '' : _1.eventStatus",
      replacement: '_1.eventStatus',
      title: 'is hidden by a password',
    },
  }),
  ...mutantsOf('src/store/data-dir.ts', 'test/process/failed-start.test.ts', {
    'files of the replica that others can read become private': {
      function: 'restrictMode',
      code: 'chmodSync(_1, _2 & _3);',
      title: 'creates files',
    },
  }),
  ...mutantsOf('src/store/database.ts', 'test/process/damage.test.ts', {
    'damage at run time is reported': {
      function: 'openDatabase.toFailure',
      code: '_1?.(_2.message);',
      title: 'every third page',
    },
  }),
  ...mutantsOf('src/store/list-queries.ts', 'test/http/visibility.test.ts', {
    'a filter by an invisible venue or organizer matches nothing': {
      function: 'visibleLinkedIds',
      code: "AND r.status <> 'trash' AND ${isVisible(_1, 'r')}",
      title: 'filters of events',
    },
    'terms, venues and organizers of an event are listed only to those who see it': {
      function: 'isNamedBy',
      code: "AND e.status <> 'trash'\nAND ${isVisible(_1, 'e')}",
      title: 'of an event are those',
    },
    'terms, venues and organizers of a protected event are not listed': {
      function: 'isNamedBy',
      code: "AND NOT json_extract(p.record, '$.protected')",
      title: 'of an event are those',
    },
    'an embedded record is listed to actors who see an event with it': {
      function: 'listLinked',
      code: 'embeddedInListed(_1, _2),',
      test: 'test/calendar/list-filters.test.ts',
      title: 'an embedded venue',
    },
  }),
  ...mutantsOf('src/store/replica.ts', 'test/store/replica.test.ts', {
    'the public version does not change with invisible records': {
      function: 'openReplica.setVersion',
      code: 'if (!_1) return;',
      title: 'public version',
    },
  }),
  ...mutantsOf('src/store/upsert.ts', 'test/http/visibility.test.ts', {
    'no filter matches the protected parts of an event': {
      function: 'hiddenOfLinks',
      code: '(_1.protected ? PROTECTED : _1.hidden ? HIDDEN : LISTED)',
      replacement: '(_1.hidden ? HIDDEN : LISTED)',
      title: 'filters of events',
    },
    'a protected event counts for no term, and for no venue or organizer': {
      function: 'beginBatch.insertEvent',
      code: 'if (!_1.protected) _2.countLink(_3, _4, _1, 1);',
      replacement: '_2.countLink(_3, _4, _1, 1);',
      title: 'counts of terms',
    },
    'hidden events are in no list': {
      function: 'beginBatch.insertEvent',
      code: 'hidden: _1.hidden ? HIDDEN : LISTED,',
      replacement: 'hidden: LISTED,',
      title: 'no hidden events',
    },
  }),
  ...mutantsOf('src/sync/ingest.ts', 'test/sync/read-public-view.test.ts', {
    'public view: the public does not get what the CMS shows to the service account': {
      function: 'ingestRecords',
      code: 'await readPublicViews(_1, _2, _3, { byId })',
      replacement: '_3',
    },
  }),
  ...mutantsOf('src/sync/initial-sync.ts', 'test/sync/read-public-view.test.ts', {
    'public view: the public does not get what the CMS shows to the service account, from the start': {
      function: 'copyCollection.readPublicPage',
      code: 'await readPublicViews(_1, _2, _3.records, { byId: false })',
      replacement: '_3.records',
    },
  }),
  ...mutantsOf('src/sync/read-public-view.ts', 'test/sync/read-public-view.test.ts', {
    'public view: a published record that the CMS does not show to an anonymous reader is withheld': {
      function: 'mergePublicView',
      code: 'return { ..._1, status: WITHHELD }',
      replacement: 'return _1',
    },
    'public view: an outdated one from a cache is not used': {
      function: 'mergePublicView',
      code: 'if (_1) return undefined;',
    },
    'public view: without a service account a write stores what a poll reads': {
      function: 'mergePublicView',
      code: '_1 === undefined ? _2 :',
      test: 'test/calendar/public-view.test.ts',
      title: 'stays the same',
    },
    'public view: a refusal of anonymous readers counts only after ten minutes': {
      function: 'decideAfterRefusal',
      code: 'if (_1() - _2.refusedSinceMs < REFUSAL_GRACE_MS)',
      replacement: 'if (nowMs() < _2.refusedSinceMs)',
    },
  }),
];
