// Slow clients: how much memory their unsent responses take.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { createUnsentResponses } from '../../src/http/slow-clients.ts';
import type { Observation } from '../../src/observability/observations.ts';
import { createFakeCms, SERVICE } from '../cms/fake-cms.ts';
import { MOUNT, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

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

  for (const [what, header] of [
    ['public', ''],
    ['private', `Authorization: ${SERVICE}\r\n`],
  ]) {
    it(`are closed by the gateway: ${what} lists`, async function () {
      // It renders 90 MB.
      this.timeout(60_000);
      const cms = createFakeCms(Date.now);
      const meta = { start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
      for (let n = 0; n < 50; n += 1)
        Object.assign(cms.createPost('events', { status: 'publish', meta }), { content: 'words '.repeat(50_000) });
      const gateway = await startGateway({ transport: 'memory', cms, service: SERVICE });
      const sockets: Socket[] = [];
      try {
        const { port } = new URL((await gateway.listen()).url);
        for (let n = 0; n < 6; n += 1) {
          const socket = connect(Number(port), '127.0.0.1').pause();
          sockets.push(socket.on('error', () => {}));
          await once(socket, 'connect');
          socket.write(
            `GET ${MOUNT}/events?per_page=50&start_date=2027-01-01&n=${n} HTTP/1.1\r\nHost: x\r\n${header}\r\n`,
          );
        }
        const isWarning = (observation: Observation) =>
          observation.type === 'message' && observation.message.includes('so slowly');
        await until(() => gateway.observations.some(isWarning), 'connections are closed', 50_000);
      } finally {
        for (const socket of sockets) socket.destroy();
        await gateway.stop();
      }
    });
  }
});
