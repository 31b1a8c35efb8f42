// Mutants of the cluster.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are parts of sources.

import { type Mutant, mutantsOf } from './mutant.ts';

const PEERS = 'test/cluster/peers.test.ts';
const FAILURES = 'test/cluster/redis-failures.test.ts';

export const CLUSTER_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('src/cluster/peers.ts', PEERS, {
    'cluster: a record that a peer has named is not told back': {
      code: '!this.#rereading.has(nameOf(_1))',
      replacement: 'true',
      title: 'no key back',
    },
    'cluster: an entry counts once its records are read again': {
      code: 'if (!(await this.#reread(_1, _2))) return false;',
      replacement: 'void this.#reread(_1, _2);',
      title: 'waits until its gateway has read',
    },
    'cluster: a gateway polls at least in every sixth interval': {
      code: '= this.#skipped >= MAX_SKIPPED',
      replacement: '= false',
      test: 'test/cluster/turns.test.ts',
    },
    'cluster: entries that a gateway never saw make it poll': {
      code: 'if ((_1 || _2) &&',
      replacement: 'if (_2 &&',
      test: FAILURES,
      title: 'polls when entries were cut',
    },
    'cluster: a gateway that lost count has everything read again': {
      code: 'pollForLostEntries(isEverything)',
      replacement: 'pollForLostEntries()',
      test: FAILURES,
      title: 'reads everything again',
    },
    'cluster: keys are kept while Redis is away': {
      code: 'if (_1 === undefined) for (const _2 of _3) this.#unsent.add(_2);',
      replacement: 'if (_1 === undefined) void 0;',
      test: FAILURES,
      title: 'no memory left',
    },
    'cluster: a Redis that refuses writes counts as away': {
      code: "_1.set(`${_2}probe`, '', { expiration: { type: 'PX', value: RETRY_MS } })",
      replacement: '_1.get(`${_2}probe`)',
      test: FAILURES,
      title: 'no memory left',
    },
  }),
  ...mutantsOf('src/cluster/peers.ts', FAILURES, {
    'cluster: a key names no record of a source': {
      code: '_1 && Number(_2) < FIRST_SOURCE_ID',
      replacement: '_1',
      title: 'that no gateway wrote',
    },
  }),
  ...mutantsOf('src/cluster/cluster.ts', FAILURES, {
    'cluster: gateways with another mapping do not meet': {
      function: 'openCluster',
      code: '.update(_1)',
      replacement: ".update('')",
      title: 'another mapping',
    },
  }),
  ...mutantsOf('src/store/change-journal.ts', 'test/store/change-journal.test.ts', {
    'cluster: a journal that is younger than a token does not continue it': {
      code: '|| _1 < Number(_2)',
      title: 'the journal is younger',
    },
  }),
  ...mutantsOf('src/http/idempotency.ts', 'test/cluster/shared-idempotency-keys.test.ts', {
    'cluster: a key that Redis has lost creates no second record': {
      function: 'createOnce',
      code: 'if (!_1 && _2) return this.#runUnlessCreated(_3, _4, _5);',
      title: 'after Redis was emptied',
    },
  }),
  ...mutantsOf('src/http/login-limit.ts', 'test/cluster/shared-counters.test.ts', {
    'cluster: Redis has only a keyed hash of a user name': {
      function: 'start',
      code: "_1.update(accountKey(_2) ?? _2).digest('base64url')",
      replacement: '_2',
      title: 'stores no user name',
    },
  }),
];
