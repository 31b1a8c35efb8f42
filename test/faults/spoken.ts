// Finds secrets in what was said, however they are written down; every gateway of the tests is searched when it ends.

import { as, PASSWORD, USERS } from './wordpress.ts';

/** What every gateway of these tests may be shown. */
export const SECRETS = [PASSWORD, PASSWORD.replaceAll(' ', '')];

/** A secret as it is, in an address, in a header, and in any place of a longer base64 text. */
function spellings(secret: string): string[] {
  const inside = [0, 1, 2].map((before) =>
    Buffer.from('x'.repeat(before) + secret)
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString('hex'), ...inside];
}

/**
 * Which of the secrets, as they are or in a header, a text holds.
 * @param headers further `Authorization` headers
 */
export function secretsIn(secrets: string[] = SECRETS, headers: string[] = []): (text: string) => string[] {
  const encoded = [...USERS.map((user) => as(user)), ...headers].map((header) => header.replace('Basic ', ''));
  const forbidden = [...secrets.flatMap(spellings), ...encoded];
  return (text) => forbidden.filter((secret) => text.includes(secret));
}

const found = secretsIn();

/** Throws when a text holds a password of the stand-in's users. */
export function refuseSecrets(what: string, text: string): void {
  const [secret] = found(text);
  if (secret !== undefined) throw new Error(`${what} holds a secret, at ${text.indexOf(secret)} of ${text.length}`);
}
