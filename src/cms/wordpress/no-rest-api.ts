// Why an address shows no REST API of WordPress: told from what it answers instead.

import { CmsRedirected, CmsUnavailable } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import { type CmsResponse, describeBody, errorCode, parseJson } from '../http-exchange.ts';

export type NoApiReason =
  /** To another scheme, host or port. */
  | 'redirect'
  /** A login page, a 401 or 403 that is not WordPress's, or an error of WordPress's form with another status. */
  | 'closed'
  | 'not-found'
  /** Anything else than WordPress's description of its API: a web page with status 200, a redirect in a circle. */
  | 'no-api';

export interface NoApiFinding {
  reason: NoApiReason;
  /** The URL that answered so. */
  url: string;
  /** What it does: `answers with a web page`. */
  says: string;
  status?: number;
  /** Of a redirect, without query. */
  target?: URL;
  /** The site's own words: a page's title, or an error's code and message. At most 120 characters. */
  words?: string;
}

/** No REST API of WordPress at the site's address. `message` names the URL and what it answers. */
export class NoRestApi extends CmsUnavailable {
  readonly finding: NoApiFinding;

  constructor(finding: NoApiFinding) {
    super('status', `There is no REST API of WordPress: ${describeFinding(finding)}.`, {
      status: finding.status ?? 404,
    });
    this.name = 'NoRestApi';
    this.finding = finding;
  }
}

const INSPECTED_BYTES = 16_384;
const MAX_WORDS = 120;
const LOGIN_PATH = /^[^?]*\/(wp-login\.php|log-?in|sign-?in|sso|saml2?|oauth2?|cas|auth)(?:[/.?]|$)/i;

/** What a response without the API's description means. `url`: what was requested. */
export function findingOf(url: string, { status, bytes, redirectedTo = '' }: CmsResponse): NoApiFinding {
  const json = parseJson(bytes);
  const code = errorCode(json);
  const title = /<title[^<>]{0,200}>([^<]{1,300})/i.exec(bytes.toString('utf8', 0, INSPECTED_BYTES))?.[1];
  const words = code === undefined ? title : `${code} ${isObject(json) ? String(json.message) : ''}`;
  const finding = (reason: NoApiReason, says: string): NoApiFinding => ({
    ...{ reason, url, says, status },
    ...(words ? { words: shorten(words) } : {}),
  });
  if (LOGIN_PATH.test(redirectedTo)) return finding('closed', 'answers with a login page');
  if (status === 401) return finding('closed', 'requires a login, and not as WordPress does');
  if (status === 403) return finding('closed', 'is forbidden, and not by WordPress');
  if (code) return finding('closed', 'answers with an error');
  if (status === 404 || status === 410) return finding('not-found', 'is not found');
  if (json !== undefined) return finding('no-api', 'answers with JSON that does not describe that API');
  return finding('no-api', `answers with ${describeBody(bytes)}`);
}

/** What a failed request means; undefined for a failure that says nothing about the address (refused, timeout, 5xx). */
export function findingOfError(url: string, error: CmsUnavailable): NoApiFinding | undefined {
  if (error.reason === 'too-large') return { reason: 'no-api', url, says: 'answers with more than the gateway reads' };
  if (!(error instanceof CmsRedirected)) return undefined;
  const { target, isLoop } = error;
  if (!target) return { reason: 'no-api', url, says: 'redirects to no address of the web', status: 302 };
  if (LOGIN_PATH.test(target.pathname)) return { reason: 'closed', url, says: 'answers with a login page', target };
  return isLoop
    ? { reason: 'no-api', url, says: 'redirects in a circle', target }
    : { reason: 'redirect', url, says: 'redirects to another address', target };
}

/** One line of printable characters: a page's words go to a terminal. */
function shorten(text: string): string {
  const plain = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return plain.length > MAX_WORDS ? `${plain.slice(0, MAX_WORDS - 1)}…` : plain;
}

/** `https://a.example/wp-json/ answers with a web page (status 200, "Coming soon")`. */
export function describeFinding({ url, says, status, target, words }: NoApiFinding): string {
  const details = [
    ...(target ? [`to ${(target.origin + target.pathname).slice(0, 200)}`] : []),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(words === undefined ? [] : [`"${words}"`]),
  ];
  return `${url} ${says}${details.length > 0 ? ` (${details.join(', ')})` : ''}`;
}
