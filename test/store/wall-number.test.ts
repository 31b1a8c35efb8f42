// Tests of wall numbers: their order.

import { expect } from 'chai';
import fc from 'fast-check';
import { wallNumber } from '../../src/store/sql.ts';
import { wall } from './sample-records.ts';

describe('wall numbers', () => {
  it('sort as the times do', () => {
    expect(wallNumber('2027-03-12 10:00:00')).to.equal(20270312100000);
    expect(wallNumber('0000-00-00 00:00:00')).to.equal(0);
    expect(wallNumber('')).to.equal(0);
    fc.assert(fc.property(wall, wall, (a, b) => a < b === wallNumber(a) < wallNumber(b)));
  });
});
