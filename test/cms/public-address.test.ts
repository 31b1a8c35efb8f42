// Which IP addresses are public, in every spelling.

import { expect } from 'chai';
import fc from 'fast-check';
import { isPublicAddress } from '../../src/cms/public-request.ts';

describe('public addresses', () => {
  for (const address of [
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.251',
    '239.255.255.250',
    '255.255.255.255',
    '::',
    '::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '4000::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::7f00:1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    'localhost',
    '2130706433',
    '0x7f.1',
    '134744072',
    '',
  ]) {
    it(`do not include ${JSON.stringify(address)}`, () => expect(isPublicAddress(address)).to.equal(false));
  }

  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.0.1',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001::200e',
  ]) {
    it(`include ${address}`, () => expect(isPublicAddress(address)).to.equal(true));
  }

  it('do not include IPv4 addresses embedded in IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublicAddress(`::ffff:${address}`)).to.equal(false);
        expect(isPublicAddress(`64:ff9b::${address}`)).to.equal(false);
        expect(isPublicAddress(`::${address}`)).to.equal(false);
      }),
    );
  });
});
