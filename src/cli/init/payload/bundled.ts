// The bundled mappings for Payload: whether one fits the site, the proposal to use it, and the settings that it needs.

import type { SiteSpec } from '../../../cms/port.ts';
import { ConfigError } from '../../../errors.ts';
import { loadMapping, mappingNames } from '../../../mapping/load.ts';
import type { FieldSpec, MappingFile } from '../../../mapping/mapping-file.ts';
import { KINDS } from '../../../model/records.ts';
import { parseZone } from '../../../time/zones.ts';
import { listPath, pathsOf } from '../../field-samples.ts';
import type { Decisions } from '../generate-mapping.ts';
import { filledReason } from '../presets.ts';
import type { ProbedType } from '../probe.ts';
import { findEventTypes, type Proposal } from '../propose.ts';
import type { PayloadSite } from './probe.ts';

/**
 * The mapping that the operator named, or one whose collections and fields the site all has. Undefined if
 * there is none, or if the operator named collections or fields.
 * @throws ConfigError if the operator named a mapping for another CMS
 */
export function proposeBundled(site: PayloadSite, decisions: Decisions): Proposal | undefined {
  const { mapping: wanted } = decisions;
  const names = mappingNames('payload');
  if (wanted !== undefined && !names.includes(wanted))
    throw new ConfigError('--mapping', `${wanted} is not for Payload`, `Those for Payload are ${names.join(', ')}.`);
  const isDecided = [decisions.collections, decisions.fields].some((each) => Object.keys(each ?? {}).length > 0);
  const name =
    wanted ?? (isDecided ? undefined : names.find((each) => missingIn(site, loadMapping(each).source).length === 0));
  if (name === undefined) return undefined;
  const { source } = loadMapping(name);
  const missing = missingIn(site, source);
  const payload = { ...source.payload, ...siteSettings(site, source, decisions.name) };
  const isUnchanged = JSON.stringify(payload) === JSON.stringify(source.payload);
  const typeOf = (slug: string | undefined): ProbedType | undefined => site.types.find(({ base }) => base === slug);
  return {
    origin: 'preset',
    preset: isUnchanged ? name : undefined,
    title: `the mapping ${name}${isUnchanged ? '' : ', with settings of this site'}`,
    reason: missing.length === 0 ? 'the site has all its collections and fields' : 'you named it',
    mapping: isUnchanged ? source : { ...source, name: `${name}-here`, payload },
    collections: KINDS.flatMap((kind) => {
      const slug = source[kind]?.collection;
      const type = typeOf(slug);
      return slug === undefined
        ? []
        : [{ kind, base: slug, reason: type ? describe(type) : 'the site does not show it' }];
    }),
    fields: KINDS.flatMap((kind) =>
      Object.entries(source[kind]?.fields ?? {}).map(([field, spec]) => ({
        kind,
        field,
        source: spec,
        reason: evidence(typeOf(source[kind]?.collection), spec),
      })),
    ),
    notes: [
      ...missing.map((path) => `the site does not show ${path}: check tells more`),
      `the time zone of the calendar is ${payload.timezone ?? 'UTC'}, and its name ${payload.name ?? site.name}: "payload" in a mapping of your own sets them`,
    ],
    needsPlugin: false,
    openQuestions: [],
    eventTypes: findEventTypes(site),
  };
}

/** Collections, and fields such as `events.cost`, that the mapping has and the site does not show. */
function missingIn({ types }: PayloadSite, mapping: MappingFile): string[] {
  return KINDS.flatMap((kind) => {
    const { collection = '', fields = {} } = mapping[kind] ?? {};
    if (mapping[kind] === undefined) return [];
    const type = types.find(({ base }) => base === collection);
    if (!type) return [collection];
    const paths = Object.values(fields).flatMap(allPaths);
    const has = (path: string) => type.fields.some((field) => field.path === path.split('.', 1)[0]);
    return [...new Set(paths)].filter((path) => !has(path)).map((path) => `${collection}.${path}`);
  });
}

/** Where a field is read and where it is written. */
function allPaths(spec: string | FieldSpec): string[] {
  const written = typeof spec === 'string' ? [] : [spec.write ?? []].flat();
  return [...pathsOf(spec), ...written.flatMap(pathsOf)].map(listPath);
}

function evidence(type: ProbedType | undefined, spec: string | FieldSpec): string {
  const paths = pathsOf(spec);
  const values = type?.fields.find(({ path }) => paths.includes(path))?.values ?? [];
  return type === undefined || values.length === 0 ? 'no record has a value yet' : filledReason(values, type);
}

export const describe = ({ total }: ProbedType): string => `${total} ${total === 1 ? 'record' : 'records'}`;

/** @param name that the operator gave the calendar */
export function siteSettings(site: PayloadSite, { event }: Pick<MappingFile, 'event'>, name?: string): SiteSpec {
  const type = site.types.find(({ base }) => base === event.collection);
  const timezone = usualZone(type, pathsOf(event.fields?.timezone)[0]);
  return {
    ...(name === undefined ? {} : { name }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(site.media === undefined || site.media === 'media' ? {} : { media: site.media }),
    ...(site.users === undefined || site.users === 'users' ? {} : { users: site.users }),
  };
}

/** The zone that most events have: Payload has no setting for it. */
function usualZone(type: ProbedType | undefined, path: string | undefined): string | undefined {
  const values = type?.fields.find((each) => each.path === path)?.values ?? [];
  const counts = new Map<string, number>();
  for (const value of values)
    if (typeof value === 'string' && parseZone(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}
