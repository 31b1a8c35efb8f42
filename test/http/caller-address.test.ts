// Whose address a request counts for, behind no proxy, one, and several.

import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { callerAddress } from '../../src/http/caller-address.ts';

const request = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('callerAddress', () => {
  it('believes nobody', () => {
    expect(callerAddress(false)(request('192.0.2.1', '203.0.113.7'))).to.equal('192.0.2.1');
  });

  it('believes whoever connects, and of what they say the last', () => {
    const addressOf = callerAddress(true);
    expect(addressOf(request('192.0.2.1', '203.0.113.7, 198.51.100.1'))).to.equal('198.51.100.1');
    expect(addressOf(request('192.0.2.1'))).to.equal('192.0.2.1');
    expect(addressOf(request('192.0.2.1', ''))).to.equal('192.0.2.1');
  });

  describe('of addresses and networks that are named', () => {
    const addressOf = callerAddress(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32']);

    it('believes them, one behind another, and no caller', () => {
      expect(addressOf(request('192.0.2.1', '203.0.113.7'))).to.equal('203.0.113.7');
      expect(addressOf(request('10.1.2.3', '198.51.100.9, 203.0.113.7, 10.9.9.9'))).to.equal('203.0.113.7');
      expect(addressOf(request('2001:db8::5', '2001:db9::1'))).to.equal('2001:db9::1');
    });

    it('believes no other that connects', () => {
      expect(addressOf(request('192.0.2.2', '203.0.113.7'))).to.equal('192.0.2.2');
    });

    it('knows an address of a socket for both families', () => {
      expect(addressOf(request('::ffff:10.0.0.1', '203.0.113.7'))).to.equal('203.0.113.7');
    });

    it('stops at what is no address, and at the outermost proxy', () => {
      expect(addressOf(request('10.0.0.1', '203.0.113.7, unknown'))).to.equal('unknown');
      expect(addressOf(request('10.0.0.1', '10.0.0.2'))).to.equal('10.0.0.2');
    });
  });
});
