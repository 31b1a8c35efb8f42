// The id that a request is known by in the log, in its answer and at the CMS: taken over when it is a fit one, else made.

import { randomBytes } from 'node:crypto';

const FIT = /^[\w.:-]{1,100}$/;
const PROCESS = `${randomBytes(6).toString('base64url')}-`;
let made = 0;

/** @param given the caller's `X-Request-Id` */
export function nextRequestId(given: string | string[] | undefined): string {
  if (typeof given === 'string' && FIT.test(given)) return given;
  made += 1;
  return `${PROCESS}${made.toString(36)}`;
}
