// Sends a tool's request to the API in this process, over a connection in memory: the same middleware, as the same
// client, with the same credentials.

import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { duplexPair } from 'node:stream';
import { json } from 'node:stream/consumers';
import { NAMESPACE } from '../../interface/routes.ts';
import type { JsonObject } from '../../model/json.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../headers.ts';
import { type Context, trials } from '../state.ts';
import type { Tool } from './tools.ts';

/** See `server.ts` of http. */
const { createServer, request } = process.getBuiltinModule('node:http');

/** Says who the caller is, and which state of the calendar they must see. */
const CALLER_HEADERS = ['authorization', 'x-wp-nonce', 'x-forwarded-for', 'x-calendar-min-version', 'cache-control'];

export function createApiClient(listener: RequestListener) {
  const server = createServer(listener);

  return async function callApi({ req, state }: Context, { method, path, values }: Tool, args: JsonObject) {
    const { id, dry_run: isTrial, idempotency_key: key, ...sent } = { ...values, ...args };
    const [here, there] = duplexPair();
    const connection = Object.assign(there, { remoteAddress: req.socket.remoteAddress });
    if (isTrial) trials.add(connection);
    server.emit('connection', connection);
    const passedOn = CALLER_HEADERS.flatMap((name) => (req.headers[name] ? [[name, req.headers[name]]] : []));
    // Lists as CSV.
    const query = new URLSearchParams(sent as Record<string, string>);
    const body = method === 'GET' ? '' : JSON.stringify(sent);
    const clientRequest = request({
      method,
      path: `/${NAMESPACE}${path.replace('{id}', String(id))}${method === 'GET' ? `?${query}` : ''}`,
      headers: {
        ...Object.fromEntries(passedOn),
        'x-request-id': state.requestId,
        connection: 'close',
        ...(body !== '' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...(key !== undefined && { [IDEMPOTENCY_KEY_HEADER]: String(key) }),
      },
      createConnection: () => here,
    });
    clientRequest.end(body);
    const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
    return { status: response.statusCode!, body: (await json(response)) as JsonObject };
  };
}
