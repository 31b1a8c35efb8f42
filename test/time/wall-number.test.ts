// Tests of wall numbers: their order, and arithmetic on them.

import { expect } from 'chai';
import fc from 'fast-check';
import { secondsBefore, secondsBetween, wallNumber } from '../../src/time/wall-time.ts';
import { wall } from '../store/sample-records.ts';

describe('wall numbers', () => {
  it('sort as the times do', () => {
    expect(wallNumber('2027-03-12 10:00:00')).to.equal(20270312100000);
    expect(wallNumber('0000-00-00 00:00:00')).to.equal(0);
    expect(wallNumber('')).to.equal(0);
    fc.assert(fc.property(wall, wall, (a, b) => a < b === wallNumber(a) < wallNumber(b)));
  });

  it('count seconds across months, leap days and years', () => {
    expect(secondsBetween(20240228235959, 20240301000000)).to.equal(86_401);
    expect(secondsBetween(20270101000000, 20261231000000)).to.equal(-86_400);
    expect(secondsBefore(20240301000000, 1)).to.equal(20240229235959);
    expect(secondsBefore(20270101000000, 60 * 86_400)).to.equal(20261102000000);
    expect(secondsBefore(0, 1)).to.equal(0);
  });
});
