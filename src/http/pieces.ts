// Sends a body of many pieces in one write, out of memory that is used again: a list asked for once leaves nothing to collect.

import type { ServerResponse } from 'node:http';
import type { StoredAnswer } from './answer-cache.ts';

/** Larger bodies get memory of their own, and more than this many wait for slow callers. */
const SPARE_BYTES = 1024 * 1024;
const MAX_SPARE = 8;
const spare: Buffer[] = [];

/** Joins the pieces and sends them; its head is begun already. */
export function sendPieces(response: ServerResponse, { pieces, length }: StoredAnswer): void {
  const fits = length <= SPARE_BYTES;
  const memory = (fits ? spare.pop() : undefined) ?? Buffer.allocUnsafeSlow(fits ? SPARE_BYTES : length);
  let at = 0;
  for (const piece of pieces) {
    memory.set(piece, at);
    at += piece.byteLength;
  }
  // The operating system has all of it when this is called; of a connection that breaks off, the memory is let go.
  response.end(memory.subarray(0, length), () => {
    if (fits && !response.destroyed && spare.length < MAX_SPARE) spare.push(memory);
  });
}
