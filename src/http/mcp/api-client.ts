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

/** See `server.ts` of http. */
const { createServer, request } = process.getBuiltinModule('node:http');

export interface ApiCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the namespace: `/events/12`. */
  path: string;
  /** Parameters: of the query of a GET, otherwise of the body. */
  values: Record<string, unknown>;
  idempotencyKey?: string | undefined;
  /** Checks a write, and writes nothing. */
  isTrial?: boolean | undefined;
}

export interface ApiReply {
  status: number;
  body: JsonObject;
}

/** Says who the caller is, and which state of the calendar they must see. */
const CALLER_HEADERS = ['authorization', 'x-wp-nonce', 'x-forwarded-for', 'x-calendar-min-version', 'cache-control'];

export function createApiClient(listener: RequestListener) {
  const server = createServer(listener);
  const trialServer = createServer((req, res) => {
    trials.add(req);
    listener(req, res);
  });

  return async function callApi({ req, state }: Context, call: ApiCall): Promise<ApiReply> {
    const { method, values, idempotencyKey, isTrial } = call;
    const isRead = method === 'GET';
    const [here, there] = duplexPair();
    const connection = Object.assign(there, { remoteAddress: req.socket.remoteAddress });
    (isTrial ? trialServer : server).emit('connection', connection);
    const passedOn = CALLER_HEADERS.flatMap((name) => (req.headers[name] ? [[name, req.headers[name]]] : []));
    const body = isRead ? '' : JSON.stringify(values);
    const sent = request({
      method,
      path: `/${NAMESPACE}${call.path}${isRead ? queryOf(values) : ''}`,
      headers: {
        ...Object.fromEntries(passedOn),
        'x-request-id': state.requestId,
        connection: 'close',
        ...(isRead ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...(idempotencyKey === undefined ? {} : { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }),
      },
      createConnection: () => here,
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode!, body: (await json(response)) as JsonObject };
  };
}

/** Lists as CSV. */
function queryOf(values: Record<string, unknown>): string {
  const query = new URLSearchParams(
    Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return query === '' ? '' : `?${query}`;
}
