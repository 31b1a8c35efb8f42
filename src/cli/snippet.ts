// The `snippet` command: one PHP file that sets up a WordPress for a mapping.

import { ConfigError } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { type MetaKey, metaKeys } from '../mapping/meta-keys.ts';
import type { KindSource, MappingSource, PostTypeSource, TaxonomySource } from '../mapping/source.ts';
import { KINDS, type Kind } from '../records.ts';
import { CREATED_PHP } from './snippet-created.ts';
import { FORM_PHP } from './snippet-form.ts';
import { NOTICES_PHP } from './snippet-notices.ts';
import { REST_PHP } from './snippet-rest.ts';
import { TYPES_PHP } from './snippet-types.ts';
import { UNDATED_PHP } from './snippet-undated.ts';

export interface SnippetOptions {
  /** Where the gateway takes change notices; goes with `noticeSecret`. */
  noticeUrl?: string;
  noticeSecret?: string;
}

/** Collections of WordPress itself, whose names differ from their types'. */
const CORE: Readonly<Record<string, string>> = {
  posts: 'post',
  pages: 'page',
  categories: 'category',
  tags: 'post_tag',
};

type Php = string | number | boolean | readonly Php[] | { readonly [key: string]: Php };

/**
 * Prints the PHP file for `wp-content/mu-plugins/` that a mapping needs (PHP 7.4 and later): post types, taxonomies, meta,
 * capabilities, and change notices when it is told where to. Types that the mapping calls `existing` are only opened to REST.
 * Throws `ConfigError` when one of the two notice options is missing.
 */
export function snippet(mapping: Mapping, options: SnippetOptions = {}): string {
  const { noticeUrl, noticeSecret } = options;
  if ((noticeUrl === undefined) !== (noticeSecret === undefined))
    throw new ConfigError(
      'snippet',
      'change notices need both an address and a secret',
      'Give --notice-url and --notice-secret.',
    );
  const source = mapping.source;
  const types = typesOf(source);
  const taxonomies = taxonomiesOf(source, Object.keys(types).slice(0, 1));
  const own = Object.values(types).some((type) => !type.existing);
  const notices =
    noticeUrl === undefined || noticeSecret === undefined
      ? undefined
      : { NOTICE_URL: noticeUrl, NOTICE_SECRET: noticeSecret };
  const constants = Object.entries({ TYPES: types, TAXONOMIES: taxonomies, ...notices })
    .map(([name, value]) => `\\define(__NAMESPACE__ . '\\\\${name}', ${php(value)});`)
    .join('\n');
  const parts = [
    TYPES_PHP,
    REST_PHP,
    UNDATED_PHP,
    CREATED_PHP,
    ...(own ? [FORM_PHP] : []),
    ...(notices ? [NOTICES_PHP] : []),
  ];
  // A second copy of the file in the same folder must not define the functions again: PHP would stop the whole site.
  return `${headOf(mapping)}\nif (!\\defined(__NAMESPACE__ . '\\\\TYPES')) {\n\n${constants}\n${parts.join('')}\n}\n`;
}

function headOf(mapping: Mapping): string {
  const words = mapping.name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `<?php
/**
 * Plugin Name: Calendar gateway: ${mapping.name}
 * Description: Sets this site up for the mapping "${mapping.name}" of calendar-gateway. Generated; put it into wp-content/mu-plugins/.
 * Requires PHP: 7.4
 */

namespace CalendarGateway\\Site${words.join('')};

if (!\\defined('ABSPATH')) {
    exit;
}
`;
}

interface PhpType {
  readonly [key: string]: Php;
  readonly existing: boolean;
}

function typesOf(source: MappingSource): Record<string, PhpType> {
  const types: Record<string, PhpType> = {};
  for (const kind of KINDS) {
    const about = source[kind];
    if (about?.posts === undefined) continue;
    const given = source.wordpress?.posts?.[about.posts];
    const type = given?.type ?? CORE[about.posts] ?? about.posts;
    types[type] = {
      ...namesOf(kind, about.posts, type, given),
      icon: given?.icon ?? 'dashicons-calendar-alt',
      // A type that the mapping does not describe is another plugin's.
      existing: given?.existing ?? given === undefined,
      meta: metaOf(kind, about, source.event),
    };
  }
  return types;
}

function taxonomiesOf(source: MappingSource, eventTypes: string[]): Record<string, PhpType> {
  const taxonomies: Record<string, PhpType> = {};
  for (const kind of KINDS) {
    const about = source[kind];
    if (about?.terms === undefined) continue;
    const given = source.wordpress?.terms?.[about.terms];
    const taxonomy = given?.taxonomy ?? CORE[about.terms] ?? about.terms;
    const existing = given?.existing ?? given === undefined;
    taxonomies[taxonomy] = {
      ...namesOf(kind, about.terms, taxonomy, given),
      hierarchical: given?.hierarchical ?? kind === 'category',
      existing,
      // Another plugin's taxonomy is where the plugin put it; only the core's own has to be brought to new types.
      types: existing && given === undefined ? [] : eventTypes,
      meta: metaOf(kind, about, source.event),
    };
  }
  return taxonomies;
}

/** What a type or taxonomy is called; by its own name where the mapping gives it no other. */
function namesOf(
  kind: Kind,
  base: string,
  own: string,
  given: PostTypeSource | TaxonomySource | undefined,
): Record<string, Php> {
  const { singular = own, plural = own, rewrite = own } = given ?? {};
  return { kind, base, singular, plural, rewrite };
}

function metaOf(kind: Kind, about: KindSource, events: KindSource): Record<string, Php> {
  return Object.fromEntries(
    metaKeys(kind, about, events).map((meta) => [
      meta.key,
      {
        type: meta.type,
        default: meta.default as Php,
        hint: hintOf(meta),
        ...(meta.rows ? { rows: true } : {}),
        ...(meta.absentIsNo ? { absent: true } : {}),
        ...(meta.writable ? {} : { readonly: true }),
      },
    ]),
  );
}

function hintOf({ field, type, rows }: MetaKey): string {
  if (field === 'start_date' || field === 'end_date') return type === 'string' ? 'such as 2027-05-01 19:30:00' : '';
  if (field === 'timezone') return "such as Europe/Paris; blank for the site's";
  return type === 'array' || rows ? 'numbers, with commas between' : '';
}

/** A value as PHP writes it. Single quotes, so that nothing inside is interpreted. */
function php(value: Php, indent = ''): string {
  if (typeof value === 'string') return `'${value.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
  if (typeof value !== 'object') return String(value);
  const inner = `${indent}    `;
  const lines = Array.isArray(value)
    ? value.map((item: Php) => php(item, inner))
    : Object.entries(value).map(([key, item]) => `${php(key)} => ${php(item as Php, inner)}`);
  const flat = `[${lines.join(', ')}]`;
  if (flat.length < 100 && !flat.includes('\n')) return flat;
  return `[\n${lines.map((line) => `${inner}${line},\n`).join('')}${indent}]`;
}
