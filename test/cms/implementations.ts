// The implementations of the CMS port, as subjects of the contract.

import { setTimeout as sleep } from 'node:timers/promises';
import nock from 'nock';
import { Dispatcher } from 'undici';
import { IdMap } from '../../src/cms/id-map.ts';
import { apiKeyLogin, createPayload } from '../../src/cms/payload/payload.ts';
import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import { CmsUnavailable } from '../../src/errors.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { ContractSubject } from './contract-context.ts';
import { CREDENTIALS, createFakeCms } from './fake-cms.ts';
import { replay } from './replay.ts';

const mapping = loadMapping('wordpress-meta');
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const wrongCredentials = basic('admin', 'not the password');
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:1';

const wordPress = (url: string, dispatcher?: Dispatcher) =>
  createWordPress({
    url,
    observe: () => {},
    dispatcher,
    limits: { retries: 0, headersTimeoutMs: 60_000, deadlineMs: 60_000 },
  });

const payloadMapping = loadMapping('payload');
/** The time that a record is moved to the trash is in the recording. */
const TRASHED_MS = Date.UTC(2027, 0, 1);

const payloadCms = (url: string, dispatcher?: Dispatcher) =>
  createPayload({
    ...{ url, dispatcher, observe: () => {}, nowMs: () => TRASHED_MS, idMap: new IdMap() },
    ...{ site: payloadMapping.file.payload!, specs: Object.values(payloadMapping.kinds) },
    limits: { retries: 0, headersTimeoutMs: 60_000, deadlineMs: 60_000 },
  });

const payloadSubject = (cms: ContractSubject['cms'], keys: ContractSubject['as']): ContractSubject => ({
  ...{ cms, unreachable: payloadCms(NOWHERE), mapping: payloadMapping, wait: async () => {} },
  as: { admin: apiKeyLogin('users', keys.admin), subscriber: apiKeyLogin('users', keys.subscriber) },
  wrongCredentials: apiKeyLogin('users', 'no key'),
});

/** Refuses every connection. nock accepts them all before it looks at the request. */
class Refusing extends Dispatcher {
  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    handler.onResponseError?.(undefined as never, error);
    return false;
  }
}

/** Replays the recording; the clock is that of the recording. */
export function recordedPayload(): ContractSubject {
  replay('contract-payload');
  const subject = payloadSubject(payloadCms('http://cms.example/'), { admin: 'x', subscriber: 'y' });
  return { ...subject, unreachable: payloadCms(NOWHERE, new Refusing()) };
}

/**
 * @param keys API keys of the accounts
 * @param dispatcher watches the traffic with the site
 */
export function livePayload(url: string, keys: ContractSubject['as'], dispatcher?: Dispatcher): ContractSubject {
  return { ...payloadSubject(payloadCms(url, dispatcher), keys), wait: (ms) => sleep(ms) };
}

export function fakeCms(): ContractSubject {
  let nowMs = Date.UTC(2027, 0, 1);
  const cms = createFakeCms(() => nowMs);
  cms.hasCompanion = true;
  const unreachable = createFakeCms(() => nowMs);
  unreachable.onWrite = () => {
    throw new CmsUnavailable('refused', 'connect ECONNREFUSED');
  };
  const wait = async (ms: number) => {
    nowMs += ms;
  };
  return { cms, unreachable, mapping, as: CREDENTIALS, wrongCredentials, wait };
}

/** Replays the recording; the clock is that of the recording. */
export function recordedWordPress(): ContractSubject {
  replay('contract');
  nock.enableNetConnect('127.0.0.1:1');
  const as = { admin: basic('x', 'y'), subscriber: basic('x', 'y') };
  const unreachable = wordPress(NOWHERE);
  return { cms: wordPress('http://cms.example/'), unreachable, mapping, as, wrongCredentials, wait: async () => {} };
}

/** @param dispatcher watches the traffic with the site */
export function liveWordPress(
  url: string,
  as: { admin: string; subscriber: string },
  dispatcher?: Dispatcher,
): ContractSubject {
  const unreachable = wordPress(NOWHERE);
  const wait = (ms: number): Promise<void> => sleep(ms);
  return { cms: wordPress(url, dispatcher), unreachable, mapping, as, wrongCredentials, wait };
}
