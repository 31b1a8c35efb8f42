// The network that limits count by.

import { expect } from 'chai';
import fc from 'fast-check';
import { network48Of } from '../../src/http/client-limits.ts';

describe('the network of an address', () => {
  for (const [address, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '0:0:0::/48'],
    ['::', '0:0:0::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
    ['2001:DB8:0:0:1:2:3:4', '2001:db8:0::/48'],
    ['2001:0db8:0001:0002::', '2001:db8:1::/48'],
    ['1::2:3:4:5:6:7', '1:0:2::/48'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0::/48'],
    ['1:2:3:4:5::192.0.2.1', '1:2:3::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['', ''],
  ]) {
    it(`${address} -> ${network}`, () => expect(network48Of(address!)).to.equal(network));
  }

  it('is the first three groups of an IPv6 address in any notation', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
        const long = groups.map((group) => group.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${long}]/`).hostname.slice(1, -1);
        const expected = `${groups
          .slice(0, 3)
          .map((group) => group.toString(16))
          .join(':')}::/48`;
        expect(network48Of(long)).to.equal(expected);
        expect(network48Of(short)).to.equal(expected);
      }),
    );
  });
});
