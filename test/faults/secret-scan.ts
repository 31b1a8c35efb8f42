// Searches output for secrets in every encoding; tests scan the output of every gateway they stop.

import { authorization, PASSWORD, USERS } from './fake-wordpress.ts';

/** Passwords that the gateways of these tests receive. */
export const SECRETS = [PASSWORD, PASSWORD.replaceAll(' ', '')];

/** Encodings of a secret: plain, in a URL, in a header, and at any offset of a longer base64 text. */
function spellings(secret: string): string[] {
  const inside = [0, 1, 2].map((before) =>
    Buffer.from('x'.repeat(before) + secret)
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString('hex'), ...inside];
}

/**
 * Returns a function that lists the secrets in a text, plain or encoded.
 * @param headers further `Authorization` headers
 */
export function findSecrets(secrets: string[] = SECRETS, headers: string[] = []): (text: string) => string[] {
  const encoded = [...USERS.map((user) => authorization(user)), ...headers].map((header) =>
    header.replace('Basic ', ''),
  );
  const forbidden = [...secrets.flatMap(spellings), ...encoded];
  return (text) => forbidden.filter((secret) => text.includes(secret));
}

const find = findSecrets();

/** Throws if a text contains a password of the fake CMS's users. */
export function assertNoSecrets(what: string, text: string): void {
  const [secret] = find(text);
  if (secret !== undefined) throw new Error(`${what} holds a secret, at ${text.indexOf(secret)} of ${text.length}`);
}
