// Bounds the memory of responses that clients have not received yet.

import type { ServerResponse } from 'node:http';
import { type ClientAddress, wideNetworkOf } from './client-address.ts';
import { SharedPlaces } from './shared-places.ts';

export interface UnsentResponses {
  /** Call it when the response begins to be sent. */
  add(res: ServerResponse, body: Uint8Array): void;
}

/** Bytes of all unsent bodies. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Smaller bodies are not counted: the limit of connections bounds what they take. */
const MIN_BODY_BYTES = 16 * 1024;

/**
 * Closes the connection of a response that makes the unsent ones of its network too large. A network always gets one
 * response, however large.
 */
export function createUnsentResponses(clientAddress: ClientAddress, maxBytes = MAX_BYTES): UnsentResponses {
  const unsent = new SharedPlaces(maxBytes);
  return {
    add(res, { byteLength }) {
      if (byteLength < MIN_BODY_BYTES) return;
      const network = wideNetworkOf(clientAddress(res.req));
      if (unsent.held(network) === 0) unsent.take(network, byteLength);
      else if (!unsent.tryTake(network, byteLength)) return void res.req.socket.destroy();
      res.once('close', () => unsent.release(network, byteLength));
    },
  };
}
