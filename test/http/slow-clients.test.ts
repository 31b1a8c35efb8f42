// Slow clients: whose unsent responses the gateway counts, and which connections it closes. test/faults/ has real
// clients.

import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { createUnsentResponses } from '../../src/http/slow-clients.ts';

const KIB = 1024;
/** A tenth of them is the share of one address: ten bodies of 100 KiB. */
const MAX_BYTES = 10_000 * KIB;

describe('the unsent responses of slow clients', () => {
  let closed: number;
  let unsent: ReturnType<typeof createUnsentResponses>;
  beforeEach(() => {
    closed = 0;
    unsent = createUnsentResponses((req) => (req as unknown as { address: string }).address, MAX_BYTES);
  });

  /** Sends a response that the client does not read. */
  function send(address: string, bytes = 100 * KIB): ServerResponse {
    const response = new EventEmitter() as ServerResponse;
    const socket = {
      destroy() {
        closed += 1;
      },
    };
    Object.assign(response, { req: { address, socket } });
    unsent.add(response, Buffer.alloc(bytes));
    return response;
  }

  it('of one address are a tenth of all at most: further connections are closed', () => {
    for (let n = 0; n < 30; n += 1) send('192.0.2.1');
    expect(closed).to.equal(20);
    send('192.0.2.2');
    expect(closed).to.equal(20);
  });

  it('do not count once the client has received them or is gone', () => {
    for (let n = 0; n < 30; n += 1) send('192.0.2.1').emit('close');
    expect(closed).to.equal(0);
  });

  it('do not count if they are small', () => {
    for (let n = 0; n < 300; n += 1) send('192.0.2.1', 15 * KIB);
    expect(closed).to.equal(0);
  });

  it('of an address without others are sent, however large, also when all bytes are taken', () => {
    for (let n = 0; n < 20; n += 1) for (let of = 0; of < 10; of += 1) send(`192.0.2.${n}`);
    closed = 0;
    send('198.51.100.1', 2 * MAX_BYTES);
    expect(closed).to.equal(0);
    send('198.51.100.1');
    expect(closed).to.equal(1);
  });
});
