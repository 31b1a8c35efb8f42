// The connection of one gateway to a CMS: a test counts its requests, delays them, or cuts it.

import type { CallOptions, Cms } from '../../src/cms/port.ts';
import { unavailable } from './fake-cms.ts';

/** The methods that make no request. */
const LOCAL: readonly unknown[] = ['close', 'readLogin', 'apiUrl', 'gatewayId'];

/** Returns a CMS that passes every call that would make a request to `around`, which decides whether to make it. */
export function interceptCalls(
  cms: Cms,
  around: (name: string, call: () => Promise<unknown>, args: unknown[]) => Promise<unknown>,
): Cms {
  return new Proxy(cms, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || LOCAL.includes(name)) return value;
      return (...args: unknown[]) => around(String(name), () => value.apply(target, args), args);
    },
  });
}

export interface CmsLink {
  /** What this gateway calls. */
  cms: Cms;
  requests: number;
  /** Whether this gateway cannot reach the CMS. */
  isCut: boolean;
  /** Run before the CMS handles a request of this gateway, and after it computed the response. */
  before: ((name: string) => void | Promise<void>) | undefined;
  after: ((name: string) => void | Promise<void>) | undefined;
}

export function linkTo(cms: Cms): CmsLink {
  const link: CmsLink = {
    cms: interceptCalls(cms, async (name, call, args) => {
      const options = args.at(-1) as CallOptions | undefined;
      options?.signal?.throwIfAborted?.();
      link.requests += 1;
      await link.before?.(name);
      if (link.isCut) unavailable();
      const response = await call();
      await link.after?.(name);
      return response;
    }),
    ...{ requests: 0, isCut: false, before: undefined, after: undefined },
  };
  return link;
}

/**
 * Holds the next call of this method, before the CMS handles it or after it computed the response, until
 * `release`.
 */
export function holdNext(
  link: CmsLink,
  when: 'before' | 'after',
  name: string,
): { isHeld(): boolean; release(): void } {
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  link[when] = async (called) => {
    if (called !== name || isHeld) return;
    isHeld = true;
    await held.promise;
  };
  return {
    isHeld: () => isHeld,
    release() {
      link[when] = undefined;
      held.resolve();
    },
  };
}
