// Slow clients: which of their unsent responses the gateway counts, and whose connections it closes.
// test/faults/ has real clients.

import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { createUnsentResponses } from '../../src/http/slow-clients.ts';
import type { Observation } from '../../src/observability/observations.ts';

const KIB = 1024;
const MAX_BYTES = 1000 * KIB;

describe('the unsent responses of slow clients', () => {
  let closed: number[];
  let observations: Observation[];
  let unsent: ReturnType<typeof createUnsentResponses>;
  beforeEach(() => {
    [closed, observations] = [[], []];
    unsent = createUnsentResponses((observation) => observations.push(observation), MAX_BYTES);
  });

  function responseOf(client: number): ServerResponse {
    const socket = {
      destroyed: false,
      destroy() {
        socket.destroyed = true;
        closed.push(client);
      },
    };
    return { writableFinished: false, req: { socket } } as unknown as ServerResponse;
  }

  it('take a bounded amount of memory: the oldest are closed', () => {
    for (let client = 1; client <= 30; client += 1) unsent.add(responseOf(client), Buffer.alloc(100 * KIB));
    expect(closed).to.deep.equal(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(observations.map(({ type }) => type)).to.deep.equal(['message']);
  });

  it('do not count once the client has received them or is gone', () => {
    for (let client = 1; client <= 30; client += 1) {
      const response = responseOf(client);
      unsent.add(response, Buffer.alloc(100 * KIB));
      if (client % 2) Object.assign(response, { writableFinished: true });
      else Object.assign(response.req.socket, { destroyed: true });
    }
    expect(closed).to.deep.equal([]);
  });

  it('count once if they share a body, and not at all if they are small', () => {
    const shared = Buffer.alloc(100 * KIB);
    for (let client = 1; client <= 30; client += 1) {
      unsent.add(responseOf(client), shared);
      unsent.add(responseOf(client), Buffer.alloc(15 * KIB));
    }
    expect(closed).to.deep.equal([]);
  });

  it('include one that alone is too large, which is sent', () => {
    unsent.add(responseOf(1), Buffer.alloc(100 * KIB));
    unsent.add(responseOf(2), Buffer.alloc(2 * MAX_BYTES));
    expect(closed).to.deep.equal([1]);
  });
});
