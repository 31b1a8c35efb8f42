// The plugin that a site needs for a mapping, by CMS: the name of its file, and its text.

import { readFileSync } from 'node:fs';
import type { Mapping } from '../../mapping/mapping.ts';
import type { CmsName } from '../../mapping/mapping-file.ts';
import { KINDS } from '../../model/records.ts';
import { companionPlugin, type PluginOptions } from './companion-plugin.ts';

/** Payload's plugin. The package has it at the same place. */
const PAYLOAD_FILE = new URL('../../../examples/payload/calendar-gateway.ts', import.meta.url);
const COLLECTIONS = /^const COLLECTIONS = .*$/m;
const URL_EXAMPLE = "'http://GATEWAY:3001/-/changes'";

/**
 * The plugin for a Payload site: one TypeScript file that reports changes in the mapping's collections. It
 * holds no secret: the site has that in its environment.
 */
function payloadPlugin({ kinds, source }: Mapping, { webhookUrl }: PluginOptions): string {
  const slugs = new Set([...KINDS.flatMap((kind) => kinds[kind]?.collection ?? []), source.payload?.media ?? 'media']);
  const list = [...slugs].map((slug) => `'${slug}'`).join(', ');
  const text = readFileSync(PAYLOAD_FILE, 'utf8').replace(COLLECTIONS, `const COLLECTIONS = [${list}];`);
  return webhookUrl === undefined ? text : text.replace(URL_EXAMPLE, () => JSON.stringify(webhookUrl));
}

interface SitePlugin {
  fileName: string;
  /** Throws `ConfigError`. */
  text(mapping: Mapping, options: PluginOptions): string;
}

export const SITE_PLUGINS: Readonly<Record<CmsName, SitePlugin>> = {
  wordpress: { fileName: 'calendar-gateway-companion.php', text: companionPlugin },
  payload: { fileName: 'calendar-gateway.ts', text: payloadPlugin },
};
