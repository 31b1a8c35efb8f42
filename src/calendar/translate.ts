// The CMS's refusals in the interface's words: one table; what it has no word for becomes the nearest code, with the CMS's own under `data`.

import { GatewayError, type UpstreamAway, UpstreamRefused } from '../errors.ts';
import type { Kind, PostKind } from '../records.ts';
import { alreadyTrashed, eventNotFound, forbidden, invalidParam, invalidParams, termExists } from './refusals.ts';

export interface RefusedContext {
  kind: Kind;
  id?: number;
  anonymous: boolean;
  /** Place in the CMS (`meta.cost`) -> parameter of the interface. */
  parameterAt?: (place: string) => string | undefined;
}

const isPost = (kind: Kind): kind is PostKind => kind !== 'category' && kind !== 'tag';
const NAME: Record<Kind, string> = {
  event: 'title',
  venue: 'venue',
  organizer: 'organizer',
  category: 'name',
  tag: 'name',
};

/** The refusal of an unknown id, which only events have a word of their own for (4). */
export const unknownId = (kind: Kind, id: number): GatewayError =>
  kind === 'event' ? eventNotFound(id) : invalidParam('id');

/** The CMS does not know the address that was asked: a plugin that brings it is off, and no record is known to be missing. */
export const NO_ROUTE = 'rest_no_route';

const TABLE: Record<string, (refused: UpstreamRefused, context: RefusedContext) => GatewayError> = {
  rest_post_invalid_id: (_, { kind, id }) => unknownId(kind, id ?? 0),
  rest_term_invalid: (_, { kind, id }) => unknownId(kind, id ?? 0),
  [NO_ROUTE]: routeMissing,
  rest_already_trashed: (refused, { kind }) => (isPost(kind) ? alreadyTrashed(kind) : nearest(refused)),
  rest_invalid_author: () => invalidParam('author'),
  rest_invalid_featured_media: () => invalidParam('image'),
  empty_content: (_, { kind }) => invalidParam(NAME[kind]),
  empty_term_name: (_, { kind }) => invalidParam(NAME[kind]),
  db_insert_error: (refused, { kind }) =>
    isPost(kind) ? nearest(refused) : invalidParam('name', 'The name is too long.'),
  duplicate_term_slug: () => invalidParam('slug', 'The slug is already in use by another term.'),
  term_exists: (refused, { kind }) =>
    kind === 'category' || kind === 'tag' ? termExists(kind, Number(refused.data.term_id ?? 0)) : nearest(refused),
  rest_invalid_param: parameterRefused,
  incorrect_password: credentialsRefused,
  invalid_username: credentialsRefused,
  invalid_email: credentialsRefused,
};

/**
 * What a caller is told when the CMS says no.
 * @param error anything that a call to the CMS threw; what is no refusal is given back as it is
 */
export function translate(error: unknown, context: RefusedContext): unknown {
  if (!(error instanceof UpstreamRefused)) return error;
  const known = TABLE[error.code];
  if (known) return known(error, context);
  if (error.status === 401 || error.status === 403) return forbidden(context.anonymous, error);
  return nearest(error);
}

function nearest(refused: UpstreamRefused): GatewayError {
  const mistake = refused.status >= 400 && refused.status < 500;
  return new GatewayError(
    mistake ? 400 : 502,
    mistake ? 'rest_invalid_param' : 'calendar_upstream_refused',
    mistake ? 'The site refused the values that were sent.' : 'The site could not carry this out.',
    { data: { upstream_code: refused.code, ...(mistake ? { params: {}, details: [] } : {}) }, cause: refused },
  );
}

function routeMissing(refused: UpstreamRefused): GatewayError {
  return new GatewayError(
    503,
    'calendar_upstream_away',
    `The site behind this calendar lacks what this needs: ${refused.message} Is the plugin active that brings it?`,
    { data: { reason: 'no-route', upstream_code: refused.code }, headers: { 'Retry-After': '5' }, cause: refused },
  );
}

/** The CMS's parameters under the names of the interface; those without one are left unnamed. */
function parameterRefused(refused: UpstreamRefused, { parameterAt }: RefusedContext): GatewayError {
  const params = typeof refused.data.params === 'object' && refused.data.params !== null ? refused.data.params : {};
  const places = Object.entries(params as Record<string, unknown>).flatMap(([place, message]) => [
    place,
    // "meta.start is not of type string.": the place is more exact in the sentence than in the key.
    ...(typeof message === 'string' ? [message.split(' ', 1)[0]!] : []),
  ]);
  const names = new Set(places.flatMap((place) => parameterAt?.(place) ?? []));
  if (names.size === 0) return nearest(refused);
  return invalidParams(
    [...names].map((name) => ({ name })),
    { data: { upstream_code: refused.code }, cause: refused },
  );
}

const SENTENCES: Record<string, string> = {
  incorrect_password: 'The provided password is an invalid application password.',
  invalid_username: '<strong>Error:</strong> Unknown username. Check again or try your email address.',
  invalid_email: '<strong>Error:</strong> Unknown email address. Check again or try your username.',
};

/** Wrong credentials: WordPress tells the three apart only on some sites; elsewhere it is always the password (7). */
export function credentialsRefused(refused: UpstreamRefused): GatewayError {
  const code = Object.hasOwn(SENTENCES, refused.code) ? refused.code : 'incorrect_password';
  return new GatewayError(401, code, SENTENCES[code]!, { cause: refused });
}

/** The CMS gave no usable answer: what a caller is told, by whether anything may have happened. */
export function away(error: UpstreamAway): GatewayError {
  if (error.outcomeUnknown) {
    return new GatewayError(
      502,
      'calendar_outcome_unknown',
      'The site did not answer after the change was sent: it may or may not have been made. Look at the record, with `Cache-Control: no-cache`, before you try again.',
      { data: { reason: error.reason }, cause: error },
    );
  }
  return new GatewayError(
    503,
    'calendar_upstream_away',
    'The site behind this calendar does not answer at the moment. Try again shortly.',
    {
      data: { reason: error.reason },
      headers: { 'Retry-After': String(error.retryAfterS) },
      cause: error,
    },
  );
}
