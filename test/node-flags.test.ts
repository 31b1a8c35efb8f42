// The Node flags of a gateway: what the operator sets wins.

import { expect } from 'chai';
import { missingFlags, NODE_FLAGS } from '../src/node-flags.ts';

describe('Node flags', () => {
  it('are all missing in a plain process, and none is after a restart', () => {
    expect(missingFlags([])).to.deep.equal(NODE_FLAGS);
    expect(missingFlags([], '')).to.deep.equal(NODE_FLAGS);
    expect(missingFlags([...NODE_FLAGS, '--import', 'x'])).to.deep.equal([]);
  });

  it('leave what the command line or NODE_OPTIONS sets', () => {
    const names = (execArgv: string[], options?: string) =>
      NODE_FLAGS.filter((flag) => !missingFlags(execArgv, options).includes(flag));
    expect(names(['--max-semi-space-size=64'])).to.deep.equal(['--max-semi-space-size=8']);
    expect(names(['--max_semi_space_size=64'])).to.deep.equal(['--max-semi-space-size=8']);
    expect(names([], '--allocation-site-pretenuring  --heap-growing-percent=25')).to.deep.equal([
      '--heap-growing-percent=50',
      '--no-allocation-site-pretenuring',
    ]);
    expect(names(['--max-old-space-size=512'])).to.deep.equal([]);
  });
});
