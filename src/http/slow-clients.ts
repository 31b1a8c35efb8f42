// Bounds the memory of responses that clients have not received yet: closes the connections of the slowest clients.

import type { ServerResponse } from 'node:http';
import type { Observe } from '../observability/observations.ts';

export interface UnsentResponses {
  /** Call it when the response begins to be sent. */
  add(res: ServerResponse, body: Uint8Array): void;
}

/** Bytes of all unsent bodies; one that several responses share counts once. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Smaller bodies are not counted: the limit of connections bounds what they take. */
const MIN_BODY_BYTES = 16 * 1024;
/** Bytes of added bodies after which the next check is due. */
const CHECK_BYTES = 8 * 1024 * 1024;
const WARN_INTERVAL_MS = 60_000;

/**
 * Remembers large responses until the client has received them, or until the next check. `observe` gets one
 * warning a minute.
 */
export function createUnsentResponses(observe: Observe, maxBytes = MAX_BYTES): UnsentResponses {
  /** The oldest first. */
  const bodies = new Map<ServerResponse, Uint8Array>();
  let addedBytes = 0;
  let warnedMs = Number.NEGATIVE_INFINITY;

  /** How many unsent responses have each body, and the bytes of these bodies. */
  function count(): { uses: Map<Uint8Array, number>; bytes: number } {
    const uses = new Map<Uint8Array, number>();
    let bytes = 0;
    for (const [res, body] of bodies) {
      // A queued response of a pipelining client has no socket of its own, and is not closed with it.
      if (res.writableFinished || res.req.socket.destroyed) {
        bodies.delete(res);
        continue;
      }
      const before = uses.get(body) ?? 0;
      if (before === 0) bytes += body.byteLength;
      uses.set(body, before + 1);
    }
    return { uses, bytes };
  }

  function closeOldest(): void {
    const counted = count();
    let { bytes } = counted;
    if (bytes <= maxBytes) return;
    warn();
    for (const [res, body] of bodies) {
      if (bytes <= maxBytes || bodies.size === 1) return;
      const uses = counted.uses.get(body)! - 1;
      counted.uses.set(body, uses);
      if (uses === 0) bytes -= body.byteLength;
      bodies.delete(res);
      res.req.socket.destroy();
    }
  }

  function warn(): void {
    const nowMs = performance.now();
    if (nowMs - warnedMs < WARN_INTERVAL_MS) return;
    warnedMs = nowMs;
    const message =
      'Clients read their responses so slowly that the unsent ones take too much memory: the gateway closes the connections of the slowest. ' +
      'A proxy in front that buffers responses, such as nginx, lets slow clients finish.';
    observe({ type: 'message', level: 'warn', message });
  }

  return {
    add(res, body) {
      if (body.byteLength < MIN_BODY_BYTES) return;
      bodies.set(res, body);
      addedBytes += body.byteLength;
      if (addedBytes < Math.min(CHECK_BYTES, maxBytes)) return;
      addedBytes = 0;
      closeOldest();
    },
  };
}
