// The load generator, a process of its own: keep-alive connections that each send the next request when the last answer is whole.

import { connect, type Socket } from 'node:net';

/** One run of load. Sent to this process, which answers with a `LoadResult`. */
export interface LoadTask {
  port: number;
  path: string;
  /** Asked in turn, in place of `path`. */
  paths?: string[];
  headers?: Record<string, string>;
  connections: number;
  /** The run ends after so much time, or so many answers. */
  forMs?: number;
  requests?: number;
}

export interface LoadResult {
  requests: number;
  elapsedMs: number;
  /** Answers by status. */
  statuses: Record<string, number>;
  bytes: number;
  p50Ms: number;
  p99Ms: number;
  failures: number;
}

const HEADERS_END = Buffer.from('\r\n\r\n');

function requestOf(path: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\nHost: bench\r\n${lines.join('')}\r\n`;
}

function run({
  port,
  path,
  paths = [path],
  headers = {},
  connections,
  forMs,
  requests,
}: LoadTask): Promise<LoadResult> {
  const texts = paths.length === 1 ? [requestOf(paths[0]!, headers)] : undefined;
  const statuses: Record<string, number> = {};
  const latencies: number[] = [];
  const begun = performance.now();
  const until = begun + (forMs ?? Number.POSITIVE_INFINITY);
  let [asked, answered, bytes, failures, open] = [0, 0, 0, 0, connections];

  return new Promise((resolve) => {
    function finished(): void {
      open -= 1;
      if (open > 0) return;
      const elapsedMs = performance.now() - begun;
      latencies.sort((a, b) => a - b);
      const part = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
      resolve({ requests: answered, elapsedMs, statuses, bytes, p50Ms: part(0.5), p99Ms: part(0.99), failures });
    }

    function talk(socket: Socket): void {
      let sentMs = 0;
      let head: Buffer | undefined;
      let missing = -1;
      const send = () => {
        sentMs = performance.now();
        if (sentMs > until || asked === requests) return socket.end();
        const text = texts ? texts[0]! : requestOf(paths[asked % paths.length]!, headers);
        asked += 1;
        missing = -1;
        socket.write(text, 'latin1');
      };
      socket.setNoDelay(true);
      socket.on('connect', send);
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (missing < 0) {
          head = head ? Buffer.concat([head, chunk]) : chunk;
          const end = head.indexOf(HEADERS_END);
          if (end < 0) return;
          const text = head.toString('latin1', 0, end);
          const status = text.slice(9, 12);
          statuses[status] = (statuses[status] ?? 0) + 1;
          const length = status === '304' ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
          if (Number.isNaN(length)) throw new Error(`an answer without a length:\n${text}`);
          missing = length - (head.length - end - 4);
          head = undefined;
        } else missing -= chunk.length;
        if (missing > 0) return;
        answered += 1;
        latencies.push(performance.now() - sentMs);
        send();
      });
      socket.on('error', () => {
        failures += 1;
      });
      socket.on('close', finished);
    }

    for (let n = 0; n < connections; n += 1) talk(connect({ port, host: '127.0.0.1' }));
  });
}

process.on('message', (task: LoadTask) => {
  run(task).then(
    (result) => process.send!(result),
    (error) => {
      throw error;
    },
  );
});
