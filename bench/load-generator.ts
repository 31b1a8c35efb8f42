// Load generator in its own process: each connection sends its next request after the previous response.

import { connect, type Socket } from 'node:net';

/** One run of load, sent to this process, which replies with a `LoadResult`. */
export interface LoadTask {
  port: number;
  path: string;
  /** Requested in turn, instead of `path`. */
  paths?: string[];
  headers?: Record<string, string>;
  connections: number;
  /** The run ends after this time, or after `requests` responses. */
  forMs?: number;
  requests?: number;
}

export interface LoadResult {
  requests: number;
  elapsedMs: number;
  /** Number of responses by status. */
  statuses: Record<string, number>;
  bytes: number;
  p50Ms: number;
  p99Ms: number;
  failures: number;
}

const HEADERS_END = Buffer.from('\r\n\r\n');
/** End of a chunked response. */
const CHUNKS_END = Buffer.from('0\r\n\r\n');

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
  const startMs = performance.now();
  const until = startMs + (forMs ?? Number.POSITIVE_INFINITY);
  let [sent, completed, bytes, failures, open] = [0, 0, 0, 0, connections];

  return new Promise((resolve) => {
    function finished(): void {
      open -= 1;
      if (open > 0) return;
      const elapsedMs = performance.now() - startMs;
      latencies.sort((a, b) => a - b);
      const part = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
      resolve({ requests: completed, elapsedMs, statuses, bytes, p50Ms: part(0.5), p99Ms: part(0.99), failures });
    }

    /** Keeps one connection, and reopens it if the server closes it after a response. */
    function talk(): void {
      const socket: Socket = connect({ port, host: '127.0.0.1' });
      let sentMs = 0;
      let head: Buffer | undefined;
      /** Remaining bytes of the body; without a length, the chunks or the connection's end delimit it. */
      let missing = Number.NaN;
      let phase: 'head' | 'length' | 'chunks' | 'close' = 'head';
      let closing = false;
      let waiting = false;
      let tail: Buffer = Buffer.alloc(0);
      const more = () => performance.now() <= until && sent !== requests;
      const send = () => {
        if (!more()) return socket.end();
        sentMs = performance.now();
        const text = texts ? texts[0]! : requestOf(paths[sent % paths.length]!, headers);
        sent += 1;
        phase = 'head';
        waiting = true;
        socket.write(text, 'latin1');
      };
      const done = () => {
        waiting = false;
        completed += 1;
        latencies.push(performance.now() - sentMs);
        if (socket.destroyed) return;
        if (closing) socket.end();
        else send();
      };
      /** Reads the headers; returns the part of the body that arrived with them. */
      function begin(chunk: Buffer): Buffer | undefined {
        head = head ? Buffer.concat([head, chunk]) : chunk;
        const end = head.indexOf(HEADERS_END);
        if (end < 0) return undefined;
        const text = head.toString('latin1', 0, end);
        const rest = head.subarray(end + HEADERS_END.length);
        head = undefined;
        const status = text.slice(9, 12);
        statuses[status] = (statuses[status] ?? 0) + 1;
        closing = /\r\nconnection: close/i.test(text);
        const length = status === '304' ? '0' : /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
        missing = Number(length);
        phase = length !== undefined ? 'length' : /\r\ntransfer-encoding: chunked/i.test(text) ? 'chunks' : 'close';
        return rest;
      }
      socket.setNoDelay(true);
      socket.on('connect', send);
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        const body = phase === 'head' ? begin(chunk) : chunk;
        if (!body) return;
        if (phase === 'length') {
          missing -= body.length;
          if (missing <= 0) done();
        } else if (phase === 'chunks') {
          tail = Buffer.concat([tail, body.subarray(-CHUNKS_END.length)]).subarray(-CHUNKS_END.length);
          if (tail.equals(CHUNKS_END)) done();
        }
      });
      socket.on('error', () => {
        failures += 1;
      });
      socket.on('close', (broken) => {
        if (waiting && phase === 'close' && !broken) done();
        else if (waiting && !broken) failures += 1;
        if (!broken && more()) talk();
        else finished();
      });
    }

    // Waking a process that sleeps costs the one that sends to it as much as half a small response. A fast
    // server pays that rarely, because the generator is busy; so it never sleeps, for any server.
    const stayAwake = () => {
      if (open > 0) setImmediate(stayAwake);
    };
    stayAwake();
    for (let n = 0; n < connections; n += 1) talk();
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
// The benchmark ended, maybe by an error: no process waits for the result of a run.
process.on('disconnect', () => process.exit());
