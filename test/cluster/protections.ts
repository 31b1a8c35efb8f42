// The lines that protect where gateways are several: what each becomes when it is taken out, and the test that must then fail.

import type { Protection } from '../faults/protections.ts';

const SCRIPTS = 'src/cluster/scripts.ts';
const JOURNAL = 'src/cluster/journal.ts';
const KEEPING = 'src/cluster/keeping.ts';
const SESSION = 'src/cluster/session.ts';
const LEADING = 'src/cluster/leading.ts';
const SNAPSHOT = 'src/cluster/snapshot.ts';

const ENGINE = 'test/cluster/engine.test.ts';
const ORDER = 'test/cluster/journal.test.ts';
const VERSIONS = 'test/cluster/versions.test.ts';
const COPIES = 'test/cluster/snapshot.test.ts';
const WHOLE = 'test/cluster/cluster.test.ts';

export const CLUSTER_PROTECTIONS: Protection[] = [
  {
    what: 'several gateways: what the giver of a copy has beside the stream is beside it in the copy',
    file: SNAPSHOT,
    line: '[...beside, ...besideOf(journal)]',
    without: '[]',
    test: COPIES,
    title: 'says what of it is not in the stream',
  },
  {
    what: 'several gateways: a copy that could not be given is given when it is asked for again',
    file: LEADING,
    line: '      if (!isGiven) askedMs.delete(list);\n',
    test: COPIES,
    title: 'is begun anew',
  },
  {
    what: 'several gateways: what changed beside the stream while it was read again is not taken for told',
    file: 'src/cluster/drift.ts',
    line: 'if (records.get(key) === time) ',
    test: ORDER,
    title: 'once more while it was read again',
  },
  {
    what: 'several gateways: who does not hold the lock writes nothing in its name',
    file: SCRIPTS,
    line: "redis.call('GET', KEYS[1]) ~= ARGV[1] or ",
    test: ENGINE,
    title: 'under a number that is not the last',
  },
  {
    what: 'several gateways: nor does who held it under another number',
    file: SCRIPTS,
    line: " or redis.call('GET', KEYS[2]) ~= ARGV[2]",
    test: ENGINE,
    title: 'under a number that is not the last',
  },
  {
    what: 'several gateways: a late holder is told',
    file: JOURNAL,
    line: "    if (reply.type === 'fenced') throw new Relieved();\n",
    test: ORDER,
  },
  {
    what: 'several gateways: a lease that ran out counts for nothing',
    file: 'src/cluster/roles.ts',
    line: ' && nowMs < role.heldUntilMs',
    test: 'test/cluster/roles.test.ts',
  },
  {
    what: 'several gateways: a lock that was lost and is had again is let go',
    file: SESSION,
    line: "'take' : 'release'",
    without: "'take' : 'watch'",
    test: WHOLE,
    title: 'found nothing anew',
  },
  {
    what: 'several gateways: an entry follows the one that its writer knows',
    file: SCRIPTS,
    line: "if ARGV[3] ~= '*' and tail ~= ARGV[3] then return {'behind', tail} end\n",
    test: ORDER,
  },
  {
    what: 'several gateways: ids never go back',
    file: SCRIPTS,
    line: 'math.max(now, tonumber(ARGV[5]) + 1)',
    without: 'now',
    test: ENGINE,
    title: 'never gives an id',
  },
  {
    what: 'several gateways: the stream is capped',
    file: SCRIPTS,
    line: "'MAXLEN', '~', ARGV[4], ",
    test: ENGINE,
    title: 'keeps so many entries',
  },
  {
    what: 'several gateways: a gap in the stream is seen',
    file: JOURNAL,
    line: 'entry.after !== at || ',
    test: ORDER,
  },
  {
    what: 'several gateways: what was read twice is applied once',
    file: JOURNAL,
    line: '      if (compareIds(entry.id, cursorNow()) <= 0) continue;\n',
    test: ORDER,
  },
  {
    what: 'several gateways: a write is in the stream before its answer leaves',
    file: KEEPING,
    line: "await journal.commit('write'",
    without: "void journal.commit('write'",
    test: VERSIONS,
    title: 'in the stream when its answer leaves',
  },
  {
    what: 'several gateways: a read waits for its version',
    file: 'src/cluster/versions.ts',
    line: 'return journal.reached(id, withinMs);',
    without: 'return true;',
    test: VERSIONS,
    title: 'lets a read wait',
  },
  {
    what: 'several gateways: an older answer of the CMS undoes no write',
    file: KEEPING,
    line: 'const isFresh = !journal.touchedSince(key, moment);',
    without: 'const isFresh = true;',
    test: VERSIONS,
    title: 'undoes no write',
  },
  {
    what: 'several gateways: of writes that cross, what the CMS has is read again',
    file: KEEPING,
    line: 'await askAgain([...keys]).catch(() => false)',
    without: 'true',
    test: VERSIONS,
    title: 'loses no write',
  },
  {
    what: 'several gateways: what was put in alone is mended',
    file: SESSION,
    line: 'void mend();',
    without: 'void 0;',
    test: WHOLE,
    title: 'while the engine is away',
  },
  {
    what: 'several gateways: others are refused',
    file: 'src/cluster/identity.ts',
    line: '  if (differ.length === 0) return;\n',
    without: '  if (differ.length < 9) return;\n',
    test: 'test/cluster/identity.test.ts',
  },
  {
    what: 'several gateways: a copy never lies in the engine as a whole',
    file: SNAPSHOT,
    line: 'while (waiting > MAX_WAITING)',
    without: 'while (false)',
    test: COPIES,
    title: 'never waits in the engine',
  },
  {
    what: 'several gateways: a copy that nobody waits for holds up nobody',
    file: LEADING,
    line: '!engine || !isWanted || ',
    without: '!engine || ',
    test: COPIES,
    title: 'to nobody who asked once',
  },
  {
    what: 'several gateways: a copy is given once',
    file: LEADING,
    line: '    if (isKnown) return;\n',
    test: COPIES,
    title: 'is the same copy',
  },
  {
    what: 'several gateways: a user is known to the engine by a keyed hash',
    file: 'src/http/limits.ts',
    line: "createHmac('sha256', key)\n      .update(accountOf(user) ?? user)\n      .digest('base64url')",
    without: 'user',
    test: 'test/cluster/shared-limits.test.ts',
    title: 'keeps no user name',
  },
];
