// The header that names the parameters of a request which have no effect, such as `strat_date`.

import type { Endpoint } from '../interface/routes.ts';
import { unknownNames } from '../interface/validate.ts';

const MAX_CHARACTERS = 300;

/** No header if each parameter has an effect. Names are percent-encoded: a name may have any character. */
export function unknownParametersHeader(endpoint: Endpoint, sent: Record<string, unknown>): Record<string, string> {
  const names = unknownNames(endpoint, sent);
  if (names.length === 0) return {};
  const encoded = names.map((name) => encodeURIComponent(name.slice(0, MAX_CHARACTERS).toWellFormed()));
  return { 'X-Unknown-Parameters': encoded.join(', ').slice(0, MAX_CHARACTERS) };
}
