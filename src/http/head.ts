// Heads of stored answers: headers are checked and joined when an answer is made, and sent as they are each time it is asked for.

import type { ServerResponse as Response } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';

/** Its other form imports `node:http`, which costs memory: see `port.ts`. */
const { IncomingMessage, ServerResponse, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http');

/** What `writeHead` would have left in a response. It is not public; `head.test.ts` holds it against what `writeHead` sends. */
interface Begun {
  /** The whole head as text; `end` sends it before the body. */
  _header: string;
  /** Whether the connection ends with this answer. */
  _last: boolean;
  _keepAliveTimeout: number;
}

/**
 * Headers as they go over the wire, in one piece.
 * @param turns names and values by turns, as `writeHead` takes them
 * @throws what `writeHead` throws for a name or value that no header may have
 */
export function headerLines(turns: readonly string[]): string {
  const parts: string[] = [];
  for (let i = 0; i < turns.length; i += 2) {
    const [name, value] = [turns[i]!, turns[i + 1]!];
    validateHeaderName(name);
    validateHeaderValue(name, value);
    parts.push(name, ': ', value, '\r\n');
  }
  // Joined, and not added up: that would be a chain of pieces, to be walked whenever it is sent.
  return parts.join('');
}

const STATUS_LINES = { 200: 'HTTP/1.1 200 OK\r\n', 304: 'HTTP/1.1 304 Not Modified\r\n' };

/**
 * Does what `writeHead` does, for headers in the form that `headerLines` gives. `writeHead` looks through all of them for every answer,
 * which is a seventh of the time that a short one takes.
 */
export function beginReady(response: Response, status: keyof typeof STATUS_LINES, lines: string): void {
  if (isAsNode) writeReady(response, status, lines);
  else response.writeHead(status, turnsOf(lines));
}

/** The way back from `headerLines`. */
function turnsOf(lines: string): string[] {
  const pairs = lines.split('\r\n').slice(0, -1);
  return pairs.flatMap((line) => {
    const at = line.indexOf(': ');
    return [line.slice(0, at), line.slice(at + 2)];
  });
}

type Status = keyof typeof STATUS_LINES;

function writeReady(response: Response, status: Status, lines: string): void {
  const begun = response as unknown as Begun;
  response.statusCode = status;
  // To HTTP/1.0 a connection goes on only behind an answer that says how long it is.
  const goesOn = response.shouldKeepAlive && (status !== 304 || response.useChunkedEncodingByDefault);
  if (!goesOn) begun._last = true;
  begun._header =
    STATUS_LINES[status] + lines + dateLine() + (goesOn ? keepAliveLines(begun._keepAliveTimeout) : CLOSE);
}

const SECOND_MS = 1000;
let dateS = 0;
let dated = '';

/** RFC 9110, 6.6.1: as of the second. */
function dateLine(): string {
  const nowS = Math.trunc(Date.now() / SECOND_MS);
  if (nowS !== dateS) {
    dateS = nowS;
    dated = `Date: ${new Date(nowS * SECOND_MS).toUTCString()}\r\n`;
  }
  return dated;
}

const CLOSE = 'Connection: close\r\n\r\n';
const keepAlive = new Map<number, string>();

/** Both say what is so without them (RFC 9112, 9.3), but for the time; Node sends them with every answer. */
function keepAliveLines(timeoutMs: number): string {
  let lines = keepAlive.get(timeoutMs);
  if (!lines) {
    const time = timeoutMs ? `Keep-Alive: timeout=${Math.floor(timeoutMs / SECOND_MS)}\r\n` : '';
    lines = `Connection: keep-alive\r\n${time}\r\n`;
    keepAlive.set(timeoutMs, lines);
  }
  return lines;
}

/** What goes over the wire for an answer that is begun in this way. */
function sentBy(begin: (response: Response) => void): string {
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method: 'GET', httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 });
  const response = new ServerResponse(request);
  let text = '';
  const wire = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  response.assignSocket(wire as Socket);
  begin(response);
  response.end('x');
  return text.replace(/^Date: .*$/m, '');
}

/**
 * Whether this version of Node sends headers from its private fields exactly as it sends those of `writeHead`. If it does not, or lacks the
 * fields, the gateway uses `writeHead`.
 * @param write replaces the function under test
 */
export function sendsAsNode(write: typeof writeReady = writeReady): boolean {
  const turns = ['ETag', '"x"', 'Content-Type', 'application/json', 'Content-Length', '1'];
  try {
    const ready = sentBy((response) => write(response, 200, headerLines(turns)));
    return ready !== '' && ready === sentBy((response) => response.writeHead(200, turns));
  } catch {
    return false;
  }
}

const isAsNode = sendsAsNode();
