// Records the requests of a client as nock definitions. nock's own recorder does not intercept undici.

import { Agent, type Dispatcher } from 'undici';
import { UNCACHED } from '../../src/cms/client.ts';

/** Replaces the address of the recorded site in fixtures. */
const NEUTRAL_SITE = 'http://cms.example';

/** The parameter of the sync that differs in each poll, and its value in fixtures. */
const POLL = new RegExp(`${UNCACHED}=[^&]*`);
export const withoutPoll = (path: string): string => path.replace(POLL, `${UNCACHED}=0`);

/** One exchange in the form that `nock.define` takes. */
export interface RecordedExchange {
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
  /** Forwards requests to the network and records request and response. */
  dispatcher: Dispatcher;
  recorded: RecordedExchange[];
  close(): Promise<void>;
}

/** Recorded headers: never credentials. */
const REQUEST_HEADERS = ['content-type', 'content-disposition'];
const RESPONSE_HEADERS = ['content-type', 'date', 'link', 'location', 'retry-after', 'x-wp-total', 'x-wp-totalpages'];

/** @param site the address that {@link NEUTRAL_SITE} replaces everywhere */
export function createRecorder(site: string): Recorder {
  const agent = new Agent();
  const recorded: RecordedExchange[] = [];
  const neutral = (text: string) =>
    text.replaceAll(site, NEUTRAL_SITE).replaceAll(encodeURIComponent(site), encodeURIComponent(NEUTRAL_SITE));

  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    const chunks: Buffer[] = [];
    const body = requestBody(options.body);
    const entry: RecordedExchange = {
      scope: NEUTRAL_SITE,
      method: options.method,
      path: withoutPoll(neutral(options.path)),
      ...(body === undefined ? {} : { body }),
      reqheaders: withoutBoundary(pickHeaders(headersOf(options.headers), REQUEST_HEADERS)),
      status: 0,
      response: '',
      rawHeaders: {},
    };
    // In the order of the requests: responses may arrive in another order.
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
          entry.rawHeaders = pickHeaders(flat, RESPONSE_HEADERS);
          handler.onResponseStart?.(controller, status, headers, message);
        },
        onResponseData(controller, chunk) {
          chunks.push(Buffer.from(chunk));
          handler.onResponseData?.(controller, chunk);
        },
        onResponseEnd(controller, trailers) {
          entry.response = jsonOrText(neutral(Buffer.concat(chunks).toString().replaceAll('\\/', '/')));
          handler.onResponseEnd?.(controller, trailers);
        },
        onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
      },
    );
  });
  return { dispatcher, recorded, close: () => agent.destroy() };
}

/** JSON bodies; of binary bodies the fixture has only the headers. */
function requestBody(body: unknown): unknown {
  return typeof body === 'string' ? jsonOrText(body) : undefined;
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The boundary of a form is another one in each request. */
function withoutBoundary(headers: Record<string, string>): Record<string, string> {
  const { 'content-type': type = '', ...rest } = headers;
  return type.startsWith('multipart/') ? rest : headers;
}

function headersOf(headers: unknown): Record<string, string> {
  // After a redirect: names and values in turn.
  if (Array.isArray(headers))
    return Object.fromEntries(headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]]] : [])));
  return typeof headers === 'object' && headers !== null ? { ...headers } : {};
}

function pickHeaders(headers: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}
