// Checks of the mapping's fields: the records have each path, its values are readable, and WordPress would store what is written.

import type { CmsRecord } from '../../cms/port.ts';
import { FIELDS, type Field } from '../../interface/fields.ts';
import { customFieldType, locationOf } from '../../mapping/custom-fields.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import type { Kind } from '../../model/records.ts';
import { formatSample, listPath, pathsOf, valueAtPath } from '../field-samples.ts';
import { orIfRefused } from '../open-site.ts';
import type { SampledRecord } from '../sample-records.ts';
import { type Advice, advise } from './advice.ts';
import { type Check, type CheckContext, type Finding, fail, mappedKinds, ok, warn } from './checks.ts';

export const FIELD_CHECKS: readonly Check[] = (['event', 'venue', 'organizer', 'category', 'tag'] as const).map(
  (kind) => ({
    area: `${kind} fields`,
    async run(context) {
      const map = mappedKinds(context.mapping).find((each) => each.kind === kind);
      return map ? checkFields(context, map) : [];
    },
  }),
);

async function checkFields(context: CheckContext, map: KindMapping<Kind>): Promise<Finding[]> {
  const { cms, credentials } = context.connection;
  const info = await orIfRefused(cms.collectionInfo(map, { credentials }), undefined);
  if (!info) return [];
  const records = (await context.records())[map.kind] ?? [];
  const { fields = {}, custom_fields = {} } = context.mapping.source[map.kind] ?? {};
  const findings = Object.entries(fields).flatMap(([name, spec]) => {
    const definition = FIELDS[map.kind][name];
    const field = { map, name, spec, definition: definition!, writableFields: info.writableFields };
    return definition ? [{ name, ...judgeField(field, records, context.config.mapping) }] : [];
  });
  for (const [name, spec] of Object.entries(custom_fields)) {
    const definition = { ...customFieldType(name, spec), key: `customFields.${name}` };
    const field = { map, name, spec: locationOf(spec), definition, writableFields: info.writableFields };
    findings.push({ name: `custom_fields.${name}`, ...judgeField(field, records, context.config.mapping) });
  }
  return [...(records.length > 0 ? findings : summarize(findings)), ...unmappedRequired(map, info.requiredFields)];
}

/** Fields that the site demands of a new record and that the mapping does not write. */
function unmappedRequired(map: KindMapping<Kind>, required: readonly string[] = []): Finding[] {
  const written = [...map.locations.values()].flatMap((location) => location.split(', '));
  const missing = required.filter((path) => !written.some((each) => each === path || each.startsWith(`${path}.`)));
  if (map.readOnly || missing.length === 0) return [];
  const message = `the site requires ${missing.join(', ')}, which the mapping does not write: the site refuses every new ${map.kind}`;
  return [{ name: 'required', ...warn(message, advise('required-field')) }];
}

/** Without records, the findings of all correct fields are the same. */
function summarize(findings: readonly Finding[]): Finding[] {
  const passed = findings.filter(({ state }) => state === 'ok');
  const rest = findings.filter(({ state }) => state !== 'ok');
  if (passed.length === 0) return rest;
  const names = passed.map(({ name }) => name).join(', ');
  const message = `the schema has everything that the mapping needs for ${names}; there is no record to read`;
  return [...rest, { name: `${passed.length} of ${findings.length}`, ...ok(message) }];
}

interface MappedField {
  map: KindMapping<Kind>;
  name: string;
  spec: string | FieldSpec;
  definition: Field;
  /** According to the site's schema; undefined if the site shows none. */
  writableFields: string[] | undefined;
}

/** What the records and the schema show about one field. `mapping`: its name in the configuration. */
function judgeField(field: MappedField, records: readonly SampledRecord[], mapping: string): Finding {
  const { map, name, spec, definition } = field;
  const paths = pathsOf(spec);
  const path = paths.join(', ');
  if (paths.length === 0) return ok('fixed in the mapping');

  const isMissing = records.length > 0 && !records.some(({ cmsRecord }) => hasPaths(cmsRecord, paths));
  const absent = `${path} is in none of ${records.length} records`;
  if (isMissing && definition.key === 'hidden' && path.startsWith('meta.'))
    return fail(
      `${absent}: the gateway lists the events that the site hides from its lists`,
      advise('hidden-flag', `${map.kind}.${name}`, mapping),
    );
  const unregistered = unregisteredKeys(field);
  if (unregistered.length > 0)
    return fail(
      `${unregistered.join(', ')} is not in the schema of ${map.collection}: WordPress drops what is written there`,
      unregistered[0]?.startsWith('acf.') ? advise('acf-in-rest') : advise('register-keys', mapping),
    );
  if (isMissing)
    return fail(
      absent + (definition.required ? ', and the gateway lists no event without it' : ''),
      missingPathAdvice(map, paths, records, mapping),
    );

  const isFlag = definition.type === 'boolean';
  const hasValue = ({ cmsRecord }: SampledRecord) =>
    paths.some((each) => !isBlank(valueAtPath(cmsRecord, each), definition));
  const filled = records.filter((each) => (isFlag ? hasPaths(each.cmsRecord, paths) : hasValue(each)));
  const readable = filled.filter(({ record }) => !isEmpty(Reflect.get(record, definition.key), definition));
  const sample = filled.find(hasValue)?.cmsRecord;
  const example = sample && paths.map((each) => formatSample(valueAtPath(sample, each))).join(' ');
  if (filled.length > 0 && readable.length === 0 && !isFlag)
    return fail(`${path} holds ${example}, which is not readable`, advise('codec', `${map.kind}.${name}`));
  if (definition.required && readable.length < records.length)
    return warn(
      `${path}: ${records.length - readable.length} of ${records.length} events have no readable value, and ${
        definition.key === 'end' ? 'end when they start' : 'are in no list by date'
      }`,
      advise('fill-in'),
    );
  if (records.length === 0) return ok(path);
  const count = `${path}: ${filled.length} of ${records.length} have it`;
  return ok(example === undefined ? count : `${count}, such as ${example}`);
}

/** `meta` and `acf` keys that a write of the field would use and that the schema lacks. */
function unregisteredKeys({ map, definition, writableFields }: MappedField): string[] {
  const location = (map.locations as ReadonlyMap<string, string>).get(definition.key);
  const keys = location?.match(/\b(meta|acf)\.[^\s,.]+/g) ?? [];
  return writableFields === undefined ? [] : [...new Set(keys)].filter((key) => !writableFields.includes(key));
}

function missingPathAdvice(
  { collection }: KindMapping<Kind>,
  [path = '']: readonly string[],
  [first]: readonly SampledRecord[],
  mapping: string,
): Advice {
  if (path.startsWith('acf.')) return advise('acf-in-rest');
  if (path.startsWith('meta.')) return advise('register-keys', mapping);
  // `modifiedUtc` is the adapter's, not the site's.
  const names = Object.keys(first?.cmsRecord ?? {}).filter((name) => name !== 'modifiedUtc');
  return advise('path', collection, names);
}

const hasPaths = (cmsRecord: CmsRecord, paths: readonly string[]): boolean =>
  paths.every((path) => [listPath(path), path].some((each) => valueAtPath(cmsRecord, each) !== undefined));

/** Plugins store zeros, as text too, for a venue without coordinates. */
const isBlank = (value: unknown, { type }: Field): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  isEmptyList(value) ||
  (type === 'coordinate' && Number(value) === 0);

const isEmpty = (value: unknown, { empty }: Field): boolean => isEmptyList(value) || value === empty || value === '';

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
