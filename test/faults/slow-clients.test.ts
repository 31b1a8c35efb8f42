// Clients that do not read their responses, on real sockets: the gateway closes their connections before the
// responses take too much memory.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Observation } from '../../src/observability/observations.ts';
import { createFakeCms, SERVICE } from '../cms/fake-cms.ts';
import { MOUNT, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

const RESPONSE_BYTES = 25 * 200_000;

describe('slow clients', () => {
  for (const [what, header] of [
    ['public', ''],
    ['private', `Authorization: ${SERVICE}\r\n`],
  ]) {
    it(`their connections are closed: ${what} lists`, async function () {
      // It renders 15 MB.
      this.timeout(60_000);
      const cms = createFakeCms(Date.now);
      const meta = { start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
      // A comment is long in the response, and no text that the replica would have to index.
      const content = `<!--${'x'.repeat(200_000 - 7)}-->`;
      for (let n = 0; n < 25; n += 1) Object.assign(cms.createPost('events', { status: 'publish', meta }), { content });
      const gateway = await startGateway({ transport: 'memory', cms, service: SERVICE });
      const sockets: Socket[] = [];
      try {
        const { port } = new URL((await gateway.listen()).url);
        for (let n = 0; n < 3; n += 1) {
          const socket = connect(Number(port), '127.0.0.1').pause();
          sockets.push(socket.on('error', () => {}));
          await once(socket, 'connect');
          socket.write(
            `GET ${MOUNT}/events?per_page=50&start_date=2027-01-01&n=${n} HTTP/1.1\r\nHost: x\r\n${header}\r\n`,
          );
        }
        const isResponse = ({ type }: Observation) => type === 'request';
        await until(() => gateway.observations.filter(isResponse).length >= 3, 'three are sent', 50_000);
        // Only a client that reads notices the end of its connection. Two responses are more than one address may have.
        for (const socket of sockets) socket.resume();
        await until(() => sockets.filter(({ closed }) => closed).length === 2, 'two connections are closed', 50_000);
        await until(() => sockets.some(({ bytesRead }) => bytesRead > RESPONSE_BYTES), 'one is received', 50_000);
      } finally {
        for (const socket of sockets) socket.destroy();
        await gateway.stop();
      }
    });
  }
});
