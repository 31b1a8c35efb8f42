// A receiver of outgoing webhooks whose behaviour a test chooses: what it answers, and what it has received.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export const SECRET = `whsec_${Buffer.from('twenty-four bytes, or so').toString('base64')}`;

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Whether the signature of a message is right, whatever its time. */
  isSigned: boolean;
}

/** `lose`: it acts on the message, and the answer is lost. `hang`: it never answers. */
export type Behaviour = number | 'lose' | 'hang';

/** `act`: what it does with each message before it answers. If that fails, the connection breaks. */
export async function startReceiver(act?: (body: string) => Promise<void>) {
  const received: Received[] = [];
  let behaviour: Behaviour = 204;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { 'webhook-id': id = '', 'webhook-timestamp': seconds } = req.headers;
      const signature = new Webhook(SECRET).sign(String(id), new Date(Number(seconds) * 1000), body);
      const isSigned = signature === req.headers['webhook-signature'];
      received.push({ method: req.method!, path: req.url!, headers: req.headers, body, isSigned });
      const answer = behaviour;
      const respond = () => {
        if (answer === 'lose') req.socket.destroy();
        else if (answer !== 'hang')
          res.writeHead(answer, answer < 400 ? { location: '/elsewhere' } : {}).end('x'.repeat(200_000));
      };
      if (act && (answer === 'lose' || answer === 204)) act(body).then(respond, () => req.socket.destroy());
      else respond();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/secret-path`,
    received,
    behave: (next: Behaviour) => {
      behaviour = next;
    },
    /** `event 12 updated`, of the messages that it got, or `reset`. */
    changes: () =>
      received.flatMap(({ body }) => {
        const { type, data } = JSON.parse(body) as { type: string; data: { changes: object[] } };
        return type === 'calendar.reset' ? ['reset'] : data.changes.map((change) => Object.values(change).join(' '));
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type ReceiverServer = Awaited<ReturnType<typeof startReceiver>>;
