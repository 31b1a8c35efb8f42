// Reads an `Authorization` header as WordPress does.

import type { Login } from '../port.ts';

const strict = new TextDecoder('utf-8', { fatal: true });

/**
 * Undefined for headers that WordPress itself ignores: malformed ones, and Basic credentials without a password,
 * which PHP drops. Other schemes may belong to a plugin, such as one for JSON Web Tokens. PHP decodes base64
 * leniently: credentials that only a lenient decoder accepts have no user here.
 */
export function readLogin(authorization: string): Login | undefined {
  const [, scheme = '', sent] = /^([A-Za-z][\w-]*)\s+(\S.*)$/.exec(authorization) ?? [];
  const encoded = sent?.trim();
  if (encoded === undefined) return undefined;
  if (scheme.toLowerCase() !== 'basic') return { kind: 'token' };
  const bytes = Buffer.from(encoded.replace(/[^A-Za-z0-9+/]/g, ''), 'base64');
  const colon = bytes.indexOf(':');
  if (colon < 0 || colon === bytes.length - 1) return undefined;
  if (bytes.toString('base64') !== encoded) return { kind: 'password', user: undefined };
  try {
    return { kind: 'password', user: strict.decode(bytes.subarray(0, colon)) };
  } catch {
    return { kind: 'password', user: undefined };
  }
}
