// Mutants of the outgoing webhooks.

import { type Mutant, mutantsOf } from './mutant.ts';

const PUSH = 'test/push/push.test.ts';

export const PUSH_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('src/push/receiver.ts', PUSH, {
    'push: private addresses are refused': {
      code: 'checkUrl(new URL(url), true, (_1) => _2 || isPublicAddress(_1));',
      replacement: 'checkUrl(new URL(url), true, () => true);',
      title: 'do not reach 127.0.0.1',
    },
    'push: names of private addresses are refused': {
      code: '{ lookup: createCheckedLookup(resolveHost, isPublicAddress) }',
      replacement: '{}',
      title: 'do not reach localhost',
    },
    'push: a message stays until it is accepted': {
      code: '|| !(await this.#deliver(this.#due))',
      replacement: '|| !(await this.#deliver(this.#due).then(() => true))',
      title: 'ten minutes',
    },
    'push: the position is kept': {
      code: 'setState(this.#options.replica.db, this.#key, _1);',
      title: 'also after a restart',
    },
  }),
];
