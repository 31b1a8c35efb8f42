// The `plugin` command: the plugin that a site of each CMS needs for a mapping (`SITE_PLUGINS`). For WordPress that is
// the companion plugin, one PHP file; for Payload one TypeScript file.
//
// The parts of the PHP file are the .php files of this folder; `hooks/` has one for each event plugin whose mapping
// needs code of its own. This file adds the mapping's types, taxonomies and meta keys as PHP constants.

import { readFileSync } from 'node:fs';
import { ConfigError } from '../../errors.ts';
import { FIELDS } from '../../interface/fields.ts';
import type { Mapping } from '../../mapping/mapping.ts';
import type { KindSpec, MappingFile, RegisteredSpec } from '../../mapping/mapping-file.ts';
import { type MetaKey, metaKeys, pathsWithoutPassword } from '../../mapping/meta-keys.ts';
import { KINDS, type Kind } from '../../model/records.ts';

interface PluginOptions {
  /** Where the gateway accepts webhooks; goes with `webhookSecret`. */
  webhookUrl?: string | undefined;
  webhookSecret?: string | undefined;
}

/** Collections of WordPress itself whose names differ from their types'. */
const CORE_TYPES: Readonly<Record<string, string>> = {
  posts: 'post',
  pages: 'page',
  categories: 'category',
  tags: 'post_tag',
};

/** The namespace of the parts. A plugin has instead one for its mapping: `CalendarGateway\SiteEventOrganiser`. */
const PART_NAMESPACE = 'namespace CalendarGateway\\Site;';

/**
 * Returns the PHP file for `wp-content/mu-plugins/` (PHP 7.4 and later) that registers the mapping's post types,
 * taxonomies, meta keys and capabilities, and sends webhooks if `options` say where to. Types that the mapping calls
 * `existing` are only opened to the REST API. Throws `ConfigError` if one of the two webhook options is missing.
 */
export function companionPlugin(mapping: Mapping, { webhookUrl, webhookSecret }: PluginOptions = {}): string {
  if ((webhookUrl === undefined) !== (webhookSecret === undefined))
    throw new ConfigError(
      'plugin',
      `there is ${webhookUrl ? 'an address for webhooks, and no secret' : 'a webhook secret, and no address'}`,
      'Give --webhook-url http://GATEWAY:3001/-/changes, where the site reaches the admin port. Load the secret, ' +
        'CALENDAR_WEBHOOK_SECRET, which init writes to secrets.env, set -a; . calendar-gateway/secrets.env; set +a, ' +
        'and give --config; or give --webhook-secret. For a plugin without webhooks leave out both.',
    );
  const types = postTypesOf(mapping.file);
  const eventTypes = Object.keys(types).filter((name) => types[name]!.kind === 'event');
  const taxonomies = taxonomiesOf(mapping.file, eventTypes);
  const constants: Record<string, unknown> = { TYPES: types, TAXONOMIES: taxonomies };
  const parts = ['registration', 'rest', 'undated-drafts', 'created-records'];
  if (Object.values(types).some(({ existing }) => !existing)) parts.push('edit-form');
  const { hooks } = mapping.file.wordpress ?? {};
  if (hooks !== undefined) parts.push(`hooks/${hooks}`);
  if (mapping.file.event.occurrences) parts.push('occurrences');
  if (webhookUrl !== undefined && webhookSecret !== undefined) {
    Object.assign(constants, { WEBHOOK_URL: webhookUrl, WEBHOOK_SECRET: webhookSecret });
    parts.push('webhook');
  }
  // A second copy in the same folder must not define the functions again: PHP would stop the whole site.
  return `${pluginHeader(mapping)}
if (!\\defined(__NAMESPACE__ . '\\\\TYPES')) {

${Object.entries(constants).map(phpConstant).join('\n')}
${parts.map((part) => `\n${readPart(part)}`).join('')}
}
`;
}

/** A part without its own beginning. */
function readPart(name: string): string {
  const php = readFileSync(new URL(`./${name}.php`, import.meta.url), 'utf8');
  return php.replace('<?php\n', '').replace(`${PART_NAMESPACE}\n`, '');
}

function pluginHeader({ name }: Mapping): string {
  const words = name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `<?php
/**
 * Plugin Name: Calendar gateway: ${name}
 * Description: Prepares this site for the mapping "${name}" of calendar-gateway. Generated; put it into
 * wp-content/mu-plugins/. Requires PHP: 7.4
 */

${PART_NAMESPACE.slice(0, -1)}${words.join('')};

if (!\\defined('ABSPATH')) {
    exit;
}
`;
}

function postTypesOf(file: MappingFile): Record<string, Registered> {
  const types = KINDS.flatMap((kind): [string, Registered][] => {
    const kindSpec = file[kind];
    if (kindSpec?.posts === undefined) return [];
    const spec = file.wordpress?.posts?.[kindSpec.posts];
    const name = spec?.type ?? CORE_TYPES[kindSpec.posts] ?? kindSpec.posts;
    const more = {
      icon: spec?.icon ?? 'dashicons-calendar-alt',
      without_password: kind === 'event' ? pathsWithoutPassword(kindSpec) : [],
    };
    return [[name, { ...registered(kind, kindSpec.posts, name, spec, file), ...more }]];
  });
  return Object.fromEntries(types);
}

function taxonomiesOf(file: MappingFile, eventTypes: string[]): Record<string, object> {
  const taxonomies = KINDS.flatMap((kind): [string, object][] => {
    const base = file[kind]?.terms;
    if (base === undefined) return [];
    const spec = file.wordpress?.terms?.[base];
    const name = spec?.taxonomy ?? CORE_TYPES[base] ?? base;
    const taxonomy = registered(kind, base, name, spec, file);
    // Only a taxonomy that the mapping describes, also WordPress's own `tags`, is added to the types of events.
    const types = spec === undefined ? [] : eventTypes;
    return [[name, { ...taxonomy, hierarchical: spec?.hierarchical ?? kind === 'category', types }]];
  });
  return Object.fromEntries(taxonomies);
}

type Registered = ReturnType<typeof registered>;

/** What post types and taxonomies have. Their labels are by default their own name. */
function registered(kind: Kind, base: string, name: string, spec: RegisteredSpec | undefined, file: MappingFile) {
  const { singular = name, plural = name, rewrite = name } = spec ?? {};
  // A type that the mapping does not describe is another plugin's.
  const existing = spec === undefined || spec.existing === true;
  return { kind, base, singular, plural, rewrite, existing, meta: metaOf(kind, file[kind]!, file.event) };
}

function metaOf(kind: Kind, spec: KindSpec, events: KindSpec): Record<string, object> {
  return Object.fromEntries(
    metaKeys(kind, spec, events).map((meta) => [
      meta.key,
      {
        type: meta.type,
        default: meta.default,
        hint: hintOf(meta),
        multiple: meta.multiple,
        absent_when_false: meta.absentWhenFalse,
        readonly: meta.writable ? undefined : true,
      },
    ]),
  );
}

function hintOf({ field, type, multiple }: MetaKey): string {
  if (field === 'start_date' || field === 'end_date') return type === 'string' ? 'such as 2027-05-01 19:30:00' : '';
  const words = FIELDS.event[field]?.words;
  if (words) return `${words.join(', ')}; blank if nothing is to be said`;
  if (field === 'timezone') return "such as Europe/Paris; blank for the site's";
  return type === 'array' || multiple ? 'numbers, with commas between' : '';
}

/** PHP interprets nothing inside a nowdoc, and no line of JSON begins with the word that ends it. */
const phpConstant = ([name, value]: [string, unknown]): string =>
  `\\define(__NAMESPACE__ . '\\\\${name}', \\json_decode(<<<'JSON'
${JSON.stringify(value, null, 2)}
JSON
, true));`;

/** Payload's plugin. The package has it at the same place. */
const PAYLOAD_FILE = new URL('../../../examples/payload/calendar-gateway.ts', import.meta.url);
const COLLECTIONS = /^const COLLECTIONS = .*$/m;
const URL_EXAMPLE = "'http://GATEWAY:3001/-/changes'";

/**
 * The plugin for a Payload site: one TypeScript file that reports changes in the mapping's collections. It holds no
 * secret: the site has that in its environment.
 */
function payloadPlugin({ kinds, imageCollection }: Mapping, { webhookUrl }: PluginOptions): string {
  const slugs = new Set([...KINDS.flatMap((kind) => kinds[kind]?.collection ?? []), imageCollection]);
  const list = [...slugs].map((slug) => `'${slug}'`).join(', ');
  const text = readFileSync(PAYLOAD_FILE, 'utf8').replace(COLLECTIONS, `const COLLECTIONS = [${list}];`);
  return webhookUrl === undefined ? text : text.replace(URL_EXAMPLE, () => JSON.stringify(webhookUrl));
}

/** `text` throws `ConfigError`. `title` and `place`: what the operator makes, and where the file goes. */
export const SITE_PLUGINS = {
  wordpress: {
    title: 'companion plugin of the mapping',
    fileName: 'calendar-gateway-companion.php',
    text: companionPlugin,
    place: 'into wp-content/mu-plugins/ of the site',
  },
  payload: {
    title: 'plugin of the site',
    fileName: 'calendar-gateway.ts',
    text: payloadPlugin,
    place:
      'next to payload.config.ts of the site; for webhooks add it to the plugins there, as its first lines say, and ' +
      'give the site the same CALENDAR_WEBHOOK_SECRET',
  },
} as const;
