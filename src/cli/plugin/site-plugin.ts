// The plugin that a site needs for a mapping, by CMS: the name of its file, and its text.

import type { Mapping } from '../../mapping/mapping.ts';
import type { Upstream } from '../../mapping/mapping-file.ts';
import { companionPlugin, type PluginOptions } from './companion-plugin.ts';
import { payloadPlugin } from './payload-plugin.ts';

interface SitePlugin {
  fileName: string;
  /** Throws `ConfigError`. */
  text(mapping: Mapping, options: PluginOptions): string;
}

export const SITE_PLUGINS: Readonly<Record<Upstream, SitePlugin>> = {
  wordpress: { fileName: 'calendar-gateway-companion.php', text: companionPlugin },
  payload: { fileName: 'calendar-gateway.ts', text: payloadPlugin },
};
