// What a recording scene is, and the names that its callers go by.

import type { Dispatcher } from 'undici';
import type { Role } from '../../sandbox/site.ts';
import type { Upstream } from '../../src/upstream/port.ts';

/** What a scene works with; everything it asks of the CMS is recorded. */
export interface Stage {
  upstream: Upstream;
  /** For whatever else is to be recorded, such as a gateway of its own. */
  dispatcher: Dispatcher;
  site: string;
  /** The `Authorization` header of each user. */
  as: Record<Role, string>;
  /** WP-CLI, unseen by the recorder. */
  wp(args: readonly string[]): Promise<string>;
}

export interface Scene {
  /** The name of its file in `test/fixtures`. */
  name: string;
  run(stage: Stage): Promise<void>;
}

/** For calls that the CMS is meant to refuse. */
export async function refused(call: Promise<unknown>): Promise<void> {
  const answered = await call.then(
    () => true,
    () => false,
  );
  if (answered) throw new Error('the CMS was expected to refuse this');
}
