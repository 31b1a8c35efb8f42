// Mutants of the cluster.

import { type Mutant, mutantsOf } from './mutant.ts';

export const CLUSTER_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('src/cluster/change-log.ts', 'test/cluster/change-log.test.ts', {
    'cluster: a fenced commit fails': {
      function: 'createChangeLog.append',
      code: "if (_1.type === 'fenced') throw new NotLeaderError();",
    },
    'cluster: a gap in the change log is detected': {
      function: 'createChangeLog.applyEntries',
      code: '_1.previousId !== _2 ||',
    },
    'cluster: an entry is applied once': {
      function: 'createChangeLog.applyEntries',
      code: 'if (compareIds(_1.id, _2()) <= 0) continue;',
    },
  }),
  ...mutantsOf('src/cluster/compatibility.ts', 'test/cluster/compatibility.test.ts', {
    'cluster: incompatible gateways are rejected': {
      function: 'assertCompatible',
      code: 'if (_1.length === 0) return;',
      replacement: 'if (_1.length < 9) return;',
    },
  }),
  ...mutantsOf('src/cluster/consistency-token.ts', 'test/cluster/consistency-token.test.ts', {
    'cluster: a read waits for its consistency token': {
      function: 'createConsistencyTokens.waitFor',
      code: 'return _1.waitFor(_2, _3, _4);',
      replacement: 'return true;',
      title: 'a read waits',
    },
  }),
  ...mutantsOf('src/cluster/leader.ts', 'test/cluster/snapshot.test.ts', {
    'cluster: a snapshot that failed can be requested again': {
      function: 'createSnapshotSender.send',
      code: 'if (!_1) _2.delete(_3);',
      title: 'starts again',
    },
    'cluster: an abandoned snapshot delays no other gateway': {
      function: 'createSnapshotSender.send',
      code: '!_1 || !_2 ||',
      replacement: '!_1 ||',
      title: 'stopped asking',
    },
    'cluster: a snapshot is sent once': {
      function: 'createSnapshotSender',
      code: 'if (_1) return;',
      title: 'contains all records',
    },
  }),
  ...mutantsOf('src/cluster/lua-scripts.ts', 'test/cluster/redis.test.ts', {
    'cluster: only the holder of the lock appends under its token': {
      code: "redis.call('GET', KEYS[1]) ~= ARGV[1] or",
      title: 'outdated fencing token',
    },
    'cluster: an outdated token is rejected': {
      code: "or redis.call('GET', KEYS[2]) ~= ARGV[2]",
      title: 'outdated fencing token',
    },
    'cluster: an entry follows the expected tail': {
      code: "if tail ~= ARGV[3] then return {'behind', tail} end",
      test: 'test/cluster/change-log.test.ts',
    },
    'cluster: entry ids never go back': {
      code: 'math.max(now, next_ms(tail), next_ms(ARGV[5]))',
      replacement: 'now',
      title: 'never assigns an older id',
    },
    'cluster: a lock without expiry expires': {
      code: "if redis.call('PTTL', KEYS[1]) == -1 then",
      replacement: 'if false then',
      title: 'lets a lock without expiry',
    },
    'cluster: the change log is capped': { code: "'MAXLEN', '~', ARGV[4],", title: 'caps the number of entries' },
  }),
  ...mutantsOf('src/cluster/redis-session.ts', 'test/cluster/cluster.test.ts', {
    'cluster: a gateway that must not lead releases a lock that it got back': {
      function: 'createRedisSession.checkLock',
      code: "'take' : 'release'",
      replacement: "'take' : 'watch'",
      title: 'does not bootstrap again',
    },
    'cluster: unpublished changes are repaired': {
      function: 'createRedisSession.readChangeLog',
      code: 'void _1();',
      replacement: 'void 0;',
      title: 'while Redis is unavailable',
    },
  }),
  ...mutantsOf('src/cluster/role-state.ts', 'test/cluster/role-state.test.ts', {
    'cluster: a gateway whose polls fail takes the lock last': {
      function: 'mayTakeLock',
      code: 'if (isFailing(_1) && _2 < _3 * WAIT_LEASES.failing) return false;',
      title: 'gives the lock up',
    },
    'cluster: an expired lease does not count': { function: 'mayPoll', code: '&& _1 < _2.leaseUntilMs' },
  }),
  ...mutantsOf('src/cluster/snapshot.ts', 'test/cluster/snapshot.test.ts', {
    'cluster: the unpublished changes of the sender are unpublished in the snapshot too': {
      function: 'sendSnapshot',
      code: '[..._1, ...unpublishedKeys(_2), ..._3]',
      replacement: '[]',
      title: 'names the unpublished records',
    },
    'cluster: a snapshot never waits in Redis as a whole': {
      function: 'sendSnapshot.push',
      code: 'while (_1 > MAX_WAITING_PARTS)',
      replacement: 'while (false)',
      title: 'never waits in Redis',
    },
  }),
  ...mutantsOf('src/cluster/unpublished-changes.ts', 'test/cluster/change-log.test.ts', {
    'cluster: a change during its repair stays unpublished': {
      function: 'openUnpublishedChanges.markPublished',
      code: 'if (_1.get(_2) === _3)',
      title: 'during its repair',
    },
  }),
  ...mutantsOf('src/cluster/write-through.ts', 'test/cluster/consistency-token.test.ts', {
    'cluster: a write is in the change log before its response is sent': {
      function: 'createWriteThrough.storeWritten',
      code: "await _1.commit('write'",
      replacement: "void _1.commit('write'",
      title: 'before its response is sent',
    },
    'cluster: records of crossing writes are read from the CMS again': {
      function: 'createWriteThrough.refetchOrMark',
      code: 'await _1([..._2]).catch(() => false)',
      replacement: 'true',
      title: 'a write is not lost',
    },
  }),
  ...mutantsOf('src/cluster/write-through.ts', 'test/cluster/write-through.test.ts', {
    'cluster: an older response of the CMS does not undo a write': {
      function: 'createWriteThrough.withoutOutdated',
      code: 'const _1 = _2.changedSince(_3, _4);',
      replacement: 'const _1 = false;',
      title: 'does not store a response',
    },
  }),
  ...mutantsOf('src/http/login-limit.ts', 'test/cluster/redis-rate-limit.test.ts', {
    'cluster: Redis has only a keyed hash of a user name': {
      function: 'createLoginLimit.countersOf',
      code: "createHmac('sha256', _1)\n.update(accountKey(_2) ?? _2)\n.digest('base64url')",
      replacement: '_2',
      title: 'stores no user name',
    },
  }),
];
