// The `plugin` command for a Payload site: the plugin that sends webhooks, one TypeScript file for the site, with what a mapping names.

import { readFileSync } from 'node:fs';
import type { Mapping } from '../../mapping/mapping.ts';
import { KINDS } from '../../model/records.ts';
import type { PluginOptions } from './companion-plugin.ts';

/** The package has it at the same place. */
const FILE = new URL('../../../examples/payload/calendar-gateway.ts', import.meta.url);
const COLLECTIONS = /^const COLLECTIONS = .*$/m;
const URL_EXAMPLE = "'http://GATEWAY:3001/-/changes'";

/** Returns the file. It reports changes in the mapping's collections. It holds no secret: the site has that in its environment. */
export function payloadPlugin({ kinds, source }: Mapping, { webhookUrl }: PluginOptions = {}): string {
  const slugs = new Set([...KINDS.flatMap((kind) => kinds[kind]?.collection ?? []), source.payload?.media ?? 'media']);
  const list = [...slugs].map((slug) => `'${slug}'`).join(', ');
  const text = readFileSync(FILE, 'utf8').replace(COLLECTIONS, `const COLLECTIONS = [${list}];`);
  return webhookUrl === undefined ? text : text.replace(URL_EXAMPLE, () => JSON.stringify(webhookUrl));
}
