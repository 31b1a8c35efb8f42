// What WordPress's schema tells of the mapping's fields, and why it does not store a value.

import type { KindMapping } from '../../../mapping/mapping.ts';
import type { Kind } from '../../../model/records.ts';
import { pathsOf } from '../../field-samples.ts';
import { orIfRefused } from '../../open-site.ts';
import type { Advice } from '../advice.ts';
import { type ChangedValue, type CheckContext, type Finding, fail, type MappedField, warn } from '../checks.ts';
import { advise } from './advice.ts';

/** WordPress stores these only for types that support them. */
const SUPPORTED_PATHS = new Set(['excerpt', 'content']);

export async function judgeField(field: MappedField, { pluginOptions }: CheckContext): Promise<Finding | undefined> {
  const { map, name, spec, definition, records, isMissing } = field;
  const paths = pathsOf(spec);
  const path = paths.join(', ');
  const absent = `${path} is in none of ${records.length} records`;
  if (isMissing && definition.key === 'hidden' && path.startsWith('meta.'))
    return fail(
      `${absent}: the gateway lists the events that the site hides from its lists`,
      advise('hidden-flag', `${map.kind}.${name}`, pluginOptions),
    );
  const unregistered = unregisteredKeys(field);
  if (unregistered.length > 0)
    return fail(
      `${unregistered.join(', ')} is not in the schema of ${map.collection}: WordPress drops what is written there`,
      unregistered[0]?.startsWith('acf.') ? advise('acf-in-rest') : advise('register-keys', pluginOptions),
    );
  const advice = isMissing ? closedFieldAdvice(paths, pluginOptions) : undefined;
  return advice && fail(absent + (definition.required ? ', and the gateway lists no event without it' : ''), advice);
}

/** `meta` and `acf` keys that a write of the field would use and that the schema lacks. */
function unregisteredKeys({ map, definition, writableFields }: MappedField): string[] {
  const location = (map.locations as ReadonlyMap<string, string>).get(definition.key);
  const keys = location?.match(/\b(meta|acf)\.[^\s,.]+/g) ?? [];
  return writableFields === undefined ? [] : [...new Set(keys)].filter((key) => !writableFields.includes(key));
}

function closedFieldAdvice([path = '']: readonly string[], pluginOptions: string): Advice | undefined {
  if (path.startsWith('acf.')) return advise('acf-in-rest');
  return path.startsWith('meta.') ? advise('register-keys', pluginOptions) : undefined;
}

/** Fields that the site demands of a new record and that the mapping does not write. */
export async function requiredFields(map: KindMapping<Kind>, { connection }: CheckContext): Promise<Finding[]> {
  const { cms, credentials } = connection;
  const { requiredFields: required = [] } =
    (await orIfRefused(cms.collectionInfo(map, { credentials }), undefined)) ?? {};
  const written = [...map.locations.values()].flatMap((location) => location.split(', '));
  const missing = required.filter((path) => !written.some((each) => each === path || each.startsWith(`${path}.`)));
  if (map.readOnly || missing.length === 0) return [];
  const message = `the site requires ${missing.join(', ')}, which the mapping does not write: the site refuses every new ${map.kind}`;
  return [{ name: 'required', ...warn(message, advise('required-field')) }];
}

export function judgeChange(
  { path, isLost, message }: ChangedValue,
  { pluginOptions }: CheckContext,
): Finding | undefined {
  if (SUPPORTED_PATHS.has(path)) return warn(message, advise('type-support'));
  return isLost ? fail(message, lostValueAdvice(path, pluginOptions)) : undefined;
}

/** Where nothing is stored, the site does not know the field. */
function lostValueAdvice(path: string, pluginOptions: string): Advice {
  if (path.includes('meta.')) return advise('register-keys', pluginOptions);
  return path.includes('acf.') ? advise('acf-in-rest') : advise('companion-plugin', pluginOptions);
}
