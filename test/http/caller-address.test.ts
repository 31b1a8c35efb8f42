// Whose address a request counts for, behind no proxy, one, and several.

import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { callerAddress } from '../../src/http/caller-address.ts';
import type { Observation } from '../../src/observe/events.ts';

const request = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('callerAddress', () => {
  it('believes nobody', () => {
    expect(callerAddress(false)(request('192.0.2.1', '203.0.113.7'))).to.equal('192.0.2.1');
  });

  const warnings = (trusted: boolean | string[], requests: [address: string, forwarded?: string][]) => {
    const said: Observation[] = [];
    const addressOf = callerAddress(trusted, (observation) => said.push(observation));
    for (const [address, forwarded] of requests) addressOf(request(address, forwarded));
    return said;
  };

  it('says once that a proxy in a private network is not trusted, and which setting names it', () => {
    for (const address of ['10.0.0.5', '127.0.0.1', '::ffff:192.168.0.1', '::1', 'fd00::1']) {
      for (const trusted of [false, ['172.16.0.0/12']]) {
        const said = warnings(trusted, [[address], [address, '203.0.113.7'], [address, '203.0.113.8']]);
        expect(said, address).to.have.length(1);
        expect(said[0]).to.include({ type: 'notice', level: 'warn' });
        expect((said[0] as { message: string }).message).to.include('listen.trustProxies');
      }
    }
  });

  it('says nothing of public addresses, trusted proxies, and requests without the header', () => {
    expect(warnings(false, [['8.8.8.8', '203.0.113.7'], ['10.0.0.5']])).to.deep.equal([]);
    expect(warnings(true, [['10.0.0.5', '203.0.113.7']])).to.deep.equal([]);
    expect(warnings(['10.0.0.0/8'], [['10.0.0.5', '203.0.113.7']])).to.deep.equal([]);
  });

  it('believes whoever connects, and of what they say the last', () => {
    const addressOf = callerAddress(true);
    expect(addressOf(request('192.0.2.1', '203.0.113.7, 198.51.100.1'))).to.equal('198.51.100.1');
    expect(addressOf(request('192.0.2.1'))).to.equal('192.0.2.1');
    expect(addressOf(request('192.0.2.1', ''))).to.equal('192.0.2.1');
  });

  it('takes an address with a port for the address, and all texts that are none for one caller', () => {
    for (const addressOf of [callerAddress(true), callerAddress(['192.0.2.1'])]) {
      for (const port of ['', ':1', ':65535']) {
        expect(addressOf(request('192.0.2.1', `203.0.113.7${port}`))).to.equal('203.0.113.7');
        expect(addressOf(request('192.0.2.1', `[2001:db8::1]${port}`))).to.equal('2001:db8::1');
      }
      for (const text of ['unknown', 'x'.repeat(1900), '_hidden', '203.0.113.7:x', '[2001:db8::1', '999.1.1.1:80'])
        expect(addressOf(request('192.0.2.1', text))).to.equal('unknown');
    }
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
