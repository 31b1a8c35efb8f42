// Writes down the traffic of a client as nock definitions; nock's own recorder does not see undici.

import { Agent, type Dispatcher } from 'undici';

/** The site that recorded answers speak of, wherever they were recorded. */
export const NEUTRAL_SITE = 'http://cms.example';

/** One exchange in the form that `nock.define` takes. */
export interface Recorded {
  scope: string;
  method: string;
  path: string;
  body?: unknown;
  reqheaders?: Record<string, string>;
  status: number;
  response: unknown;
  rawHeaders: Record<string, string>;
}

export interface Recorder {
  /** Hands requests on to the network and keeps what was said. */
  dispatcher: Dispatcher;
  recorded: Recorded[];
  close(): Promise<void>;
}

/** Request headers that say what is meant; credentials are never among them. */
const KEPT_REQUEST = ['content-type', 'content-disposition'];
const KEPT_RESPONSE = ['content-type', 'date', 'link', 'location', 'retry-after', 'x-wp-total', 'x-wp-totalpages'];

/** A dispatcher that records. `site` is the address recorded from: {@link NEUTRAL_SITE} takes its place everywhere. */
export function createRecorder(site: string): Recorder {
  const agent = new Agent();
  const recorded: Recorded[] = [];
  const neutral = (text: string) =>
    text.replaceAll(site, NEUTRAL_SITE).replaceAll(encodeURIComponent(site), encodeURIComponent(NEUTRAL_SITE));

  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    const chunks: Buffer[] = [];
    const body = bodyOf(options.body);
    const entry: Recorded = {
      scope: NEUTRAL_SITE,
      method: options.method,
      path: neutral(options.path),
      ...(body === undefined ? {} : { body }),
      reqheaders: kept(headersOf(options.headers), KEPT_REQUEST),
      status: 0,
      response: '',
      rawHeaders: {},
    };
    // The place in the file is that of the request: answers may overtake each other.
    recorded.push(entry);
    return dispatch(
      { ...options, headers: { ...headersOf(options.headers), 'accept-encoding': 'identity' } },
      {
        onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
        onResponseStart(controller, status, headers, message) {
          entry.status = status;
          const flat = Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name, neutral(String(value))]),
          );
          entry.rawHeaders = kept(flat, KEPT_RESPONSE);
          handler.onResponseStart?.(controller, status, headers, message);
        },
        onResponseData(controller, chunk) {
          chunks.push(Buffer.from(chunk));
          handler.onResponseData?.(controller, chunk);
        },
        onResponseEnd(controller, trailers) {
          entry.response = parsed(neutral(Buffer.concat(chunks).toString().replaceAll('\\/', '/')));
          handler.onResponseEnd?.(controller, trailers);
        },
        onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
      },
    );
  });
  return { dispatcher, recorded, close: () => agent.destroy() };
}

/** JSON as it is sent; binary bodies are left to their headers. */
function bodyOf(body: unknown): unknown {
  return typeof body === 'string' ? parsed(body) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function headersOf(headers: unknown): Record<string, string> {
  return typeof headers === 'object' && headers !== null && !Array.isArray(headers) ? { ...headers } : {};
}

function kept(headers: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}
