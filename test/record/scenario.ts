// A scenario: calls to a real WordPress whose responses are recorded as a fixture.

import type { Dispatcher } from 'undici';
import type { Role } from '../../sandbox/site.ts';
import type { Cms } from '../../src/cms/port.ts';

/** The recorder records every request to the CMS. */
export interface RecordingContext {
  cms: Cms;
  /** Records the requests of other clients, such as another CMS adapter. */
  dispatcher: Dispatcher;
  site: string;
  /** The `Authorization` header of each user. */
  as: Record<Role, string>;
  /** Runs WP-CLI, which the recorder does not record. */
  wp(args: readonly string[]): Promise<string>;
}

export interface Scenario {
  /** The name of its file in `test/fixtures`. */
  name: string;
  run(stage: RecordingContext): Promise<void>;
}

/** Fails unless the CMS rejects the call. */
export async function expectRefusal(call: Promise<unknown>): Promise<void> {
  const succeeded = await call.then(
    () => true,
    () => false,
  );
  if (succeeded) throw new Error('the CMS was expected to reject this call');
}
