// Floods from one address: pipelined requests, bodies in tiny pieces, half requests. Others must not wait, and memory
// must not grow.

import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { sendRequest } from '../start-gateway.ts';
import { MOUNT, report, startMeasuredGateway } from './measured-gateway.ts';

/** An address of its own, so that this flood takes nothing from the limits of others. */
const FLOODER = '127.0.0.2';
/** A flood ends after this time, if the gateway has not closed its connections before. */
const MAX_FLOOD_MS = 3000;
const MAX_GROWTH_MB = 100;
const HEAP_MB = 256;

interface Flood {
  what: string;
  /** Sent once at the beginning. */
  begin?: string;
  repeated: string;
  bytes: number;
  connections?: number;
  /** Bytes of each write; default: as many as the socket takes. */
  piece?: number;
  toAdmin?: boolean;
  reads?: boolean;
}

const MB = 1_000_000;
const HOST = 'Host: x\r\n';
const get = (path: string, lines = '') => `GET ${path} HTTP/1.1\r\n${HOST}${lines}\r\n`;
const JSON_POST = `POST ${MOUNT}/events HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;
const CHUNKED = `${JSON_POST}Transfer-Encoding: chunked\r\n\r\n`;

const FLOODS: Flood[] = [
  { what: 'unknown paths', repeated: get('/x'), bytes: 4.1 * MB },
  { what: 'unknown paths, by a client that reads', repeated: get('/x'), bytes: 6.8 * MB, reads: true },
  { what: 'unknown paths on the admin port', repeated: get('/x'), bytes: 4.1 * MB, toAdmin: true },
  { what: 'metrics', repeated: get('/metrics'), bytes: 4 * MB, toAdmin: true, reads: true },
  { what: 'cached lists', repeated: get(`${MOUNT}/events`), bytes: 4 * MB, reads: true },
  { what: 'cached lists, unread', repeated: get(`${MOUNT}/events`), bytes: 4 * MB },
  { what: 'HEAD', repeated: `HEAD ${MOUNT}/events HTTP/1.1\r\n${HOST}\r\n`, bytes: 4 * MB, reads: true },
  { what: 'upgrades', repeated: get('/x', 'Connection: upgrade\r\nUpgrade: h2c\r\n'), bytes: 4 * MB },
  { what: 'expectations', repeated: get('/x', 'Expect: 100-continue\r\n'), bytes: 4 * MB },
  { what: 'unknown expectations', repeated: get('/x', 'Expect: x\r\n'), bytes: 4 * MB },
  { what: 'bodies', repeated: `${JSON_POST}Content-Length: 2\r\n\r\n{}`, bytes: 4 * MB, reads: true },
  { what: 'chunked bodies', repeated: `${CHUNKED}2\r\n{}\r\n0\r\n\r\n`, bytes: 4 * MB, reads: true },
  { what: 'pieces of seven bytes', repeated: get('/x'), bytes: 0.2 * MB, piece: 7 },
  { what: 'a hundred connections', repeated: get('/x'), bytes: 0.3 * MB, connections: 100 },
  { what: 'a body in chunks of a byte', begin: CHUNKED, repeated: '1\r\n \r\n', bytes: 6 * MB },
  { what: 'blank lines', repeated: '\r\n', bytes: 7 * MB },
  { what: 'headers', begin: 'GET /x HTTP/1.1\r\n', repeated: 'a:b\r\n', bytes: 7 * MB, connections: 20 },
];

/** Sends a flood; resolves when the gateway has closed its connections, or after `MAX_FLOOD_MS`. */
async function send(flood: Flood, port: number): Promise<void> {
  const bytes = Buffer.from(
    (flood.begin ?? '') + flood.repeated.repeat(Math.ceil(flood.bytes / flood.repeated.length)),
  );
  const piece = flood.piece ?? 1 << 16;
  const sockets: Socket[] = [];
  const closed = Array.from({ length: flood.connections ?? 1 }, () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: FLOODER, noDelay: true }).on('error', () => {});
    sockets.push(socket);
    if (flood.reads) socket.resume();
    let at = 0;
    const write = () => {
      while (at < bytes.length && !socket.destroyed) {
        at += piece;
        if (!socket.write(bytes.subarray(at - piece, at))) return;
      }
    };
    socket.on('connect', write).on('drain', write);
    return new Promise((resolve) => socket.once('close', resolve));
  });
  await Promise.race([Promise.all(closed), sleep(MAX_FLOOD_MS)]);
  for (const socket of sockets) socket.destroy();
}

/** Fails for an event loop that blocks longer than `boundMs`, and for memory that a flood takes. */
export async function floods(boundMs: number): Promise<void> {
  const probePort = await freePort();
  const probe = new URL(`./stall-probe.ts?port=${probePort}`, import.meta.url).href;
  const flags = ['--import', probe, `--max-old-space-size=${HEAP_MB}`];
  const gateway = await startMeasuredGateway({ sync: { intervalS: 3600 } }, flags);
  const stall = async () => Number((await sendRequest(probePort, '/')).text);
  for (let n = 0; n < 50; n += 1) await sendRequest(gateway.port, `${MOUNT}/events?n=${n}`);
  for (const flood of FLOODS) {
    const beforeMb = gateway.rssMb();
    await stall();
    await send(flood, flood.toAdmin ? gateway.adminPort : gateway.port);
    const stallMs = await stall();
    const growthMb = gateway.rssMb() - beforeMb;
    const figure = `${stallMs.toFixed(0)} ms, ${growthMb.toFixed(0)} MB`;
    const isKept = stallMs <= boundMs && growthMb <= MAX_GROWTH_MB;
    report(
      `a flood of ${flood.what}: longest stall, growth`,
      figure,
      `at most ${boundMs} ms, ${MAX_GROWTH_MB} MB`,
      isKept,
    );
  }
  await gateway.stop();
}
