// The client address without a proxy, behind one and behind several.

import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createClientAddress } from '../../src/http/client-address.ts';

const request = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as IncomingMessage;

describe('client address', () => {
  it('is the peer of the connection if no proxy is trusted', () => {
    expect(createClientAddress(false)(request('192.0.2.1', '203.0.113.7'))).to.equal('192.0.2.1');
  });

  it('is the last entry of X-Forwarded-For if every peer is trusted', () => {
    const clientAddress = createClientAddress(true);
    expect(clientAddress(request('192.0.2.1', '203.0.113.7, 198.51.100.1'))).to.equal('198.51.100.1');
    expect(clientAddress(request('192.0.2.1'))).to.equal('192.0.2.1');
    expect(clientAddress(request('192.0.2.1', ''))).to.equal('192.0.2.1');
  });

  it('drops the port of an entry, and takes all entries that are not addresses for one client', () => {
    for (const clientAddress of [createClientAddress(true), createClientAddress(['192.0.2.1'])]) {
      for (const port of ['', ':1', ':65535']) {
        expect(clientAddress(request('192.0.2.1', `203.0.113.7${port}`))).to.equal('203.0.113.7');
        expect(clientAddress(request('192.0.2.1', `[2001:db8::1]${port}`))).to.equal('2001:db8::1');
      }
      const malformed = ['unknown', 'x'.repeat(1900), '_hidden', '203.0.113.7:x', '[2001:db8::1', '999.1.1.1:80', '1'];
      for (const entry of malformed) expect(clientAddress(request('192.0.2.1', entry))).to.equal('unknown');
    }
  });

  describe('behind named proxies and networks', () => {
    const clientAddress = createClientAddress(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32']);

    it('is what the farthest trusted proxy reports', () => {
      expect(clientAddress(request('192.0.2.1', '203.0.113.7'))).to.equal('203.0.113.7');
      expect(clientAddress(request('10.1.2.3', '198.51.100.9, 203.0.113.7, 10.9.9.9'))).to.equal('203.0.113.7');
      expect(clientAddress(request('10.1.2.3', '198.51.100.9, 203.0.113.7, 10.9.9.9:4711'))).to.equal('203.0.113.7');
      expect(clientAddress(request('2001:db8::5', '2001:db9::1'))).to.equal('2001:db9::1');
    });

    it('is the peer if that is not a trusted proxy', () => {
      expect(clientAddress(request('192.0.2.2', '203.0.113.7'))).to.equal('192.0.2.2');
    });

    it('recognizes an IPv4 peer of a dual-stack socket', () => {
      expect(clientAddress(request('::ffff:10.0.0.1', '203.0.113.7'))).to.equal('203.0.113.7');
      expect(clientAddress(request('::ffff:10.0.0.1'))).to.equal('10.0.0.1');
    });

    it('stops at an entry that is not an address, and at the farthest proxy', () => {
      expect(clientAddress(request('10.0.0.1', '203.0.113.7, unknown'))).to.equal('unknown');
      expect(clientAddress(request('10.0.0.1', '10.0.0.2'))).to.equal('10.0.0.2');
    });
  });
});
