// `POST /mcp`: the calendar as tools for AI assistants (Model Context Protocol, Streamable HTTP, without sessions).
// Checks the request; the SDK is loaded with the first one that gets past the checks.

import type Koa from 'koa';
import { foreignOrigin } from '../../interface/errors.ts';
import { PRIVATE_HEADERS } from '../headers.ts';
import { createBodyReader } from '../read-body.ts';
import type { Middleware, State } from '../state.ts';
import type { AnswerMessage, McpOptions } from './server.ts';

const PATH = '/mcp';
const HEADERS = { ...PRIVATE_HEADERS, 'X-Content-Type-Options': 'nosniff', Vary: 'Origin' };
const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'POST',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Mcp-Protocol-Version',
};

/** Each call of a tool becomes a request to `app`: rights and limits are those of the API. */
export function mcp(app: Koa<State>, options: McpOptions): Middleware {
  const { publicUrl, config } = options;
  const readBody = createBodyReader(config.limits);
  const origins = new Set([...config.allowedOrigins, new URL(publicUrl).origin]);
  let loaded: Promise<AnswerMessage> | undefined;

  return async function mcpMiddleware(ctx, next) {
    if (config.mcp === 'off' || ctx.path !== PATH) return next();
    const { origin } = ctx.headers;
    ctx.state.routeName = 'mcp';
    // A page whose host name was made to lead here (DNS rebinding) has the origin of that name.
    if (origin !== undefined && !origins.has(origin)) throw foreignOrigin();
    ctx.set({ ...HEADERS, 'X-Request-Id': ctx.state.requestId });
    if (origin !== undefined) ctx.set('Access-Control-Allow-Origin', origin);
    if (ctx.method === 'OPTIONS') {
      ctx.set(PREFLIGHT_HEADERS);
      ctx.status = 204;
      return;
    }
    if (ctx.method !== 'POST') {
      ctx.set('Allow', 'POST, OPTIONS');
      ctx.status = 405;
      ctx.body = { code: 'rest_method_not_allowed', message: 'Send a POST.', data: { status: 405 } };
      return;
    }
    // Of a list of messages `readBody` makes `{}`, which the SDK refuses: one request is one call.
    const message = await readBody(ctx);
    loaded ??= import('./server.ts').then(({ createMcpServer }) => createMcpServer(app.callback(), options));
    const answer = await loaded;
    const response = await answer(ctx, message);
    ctx.status = response.status;
    ctx.body = response.body === null ? '' : Buffer.from(await response.arrayBuffer());
    ctx.type = 'application/json';
  };
}
