// Checks of the mapping's fields: the records have each path, and its values are readable. The CMS may tell
// more of each.

import type { CmsRecord } from '../../cms/port.ts';
import { FIELDS, type Field } from '../../interface/fields.ts';
import { customFieldType, hasUnreadableTime } from '../../mapping/compile-field.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import type { Kind } from '../../model/records.ts';
import { orIfRefused } from '../open-site.ts';
import { formatSample, listPath, partsOf, pathsOf, type SampledRecord, valueAtPath } from '../samples.ts';
import {
  type Check,
  type CheckContext,
  type Finding,
  fail,
  type MappedField,
  mappedKinds,
  ok,
  warn,
} from './checks.ts';

export const FIELD_CHECKS: readonly Check[] = (['event', 'venue', 'organizer', 'category', 'tag'] as const).map(
  (kind) => ({
    area: `${kind} fields`,
    async run(context) {
      const kindMapping = mappedKinds(context.mapping).find((each) => each.kind === kind);
      return kindMapping ? checkFields(context, kindMapping) : [];
    },
  }),
);

async function checkFields(context: CheckContext, kindMapping: KindMapping<Kind>): Promise<Finding[]> {
  const { kind } = kindMapping;
  const { cms, credentials } = context.connection;
  const info = await orIfRefused(cms.collectionInfo(kindMapping, { credentials }), undefined);
  const sampled = (await context.samples()).records[kind];
  // Without records and a schema nothing tells of its fields: the lists say that it is missing.
  if (!info || (!sampled && !info.writableFields)) return [];
  const records = sampled ?? [];
  const { fields = {}, custom_fields = {} } = context.mapping.source[kind] ?? {};
  const findings: Finding[] = [];
  const judge = async (name: string, spec: string | FieldSpec, definition: Field): Promise<void> => {
    const paths = pathsOf(spec);
    const isMissing = records.length > 0 && !records.some(({ cmsRecord }) => hasPaths(cmsRecord, paths));
    const field = { kindMapping, name, spec, definition, writableFields: info.writableFields, records, isMissing };
    const ofCms = paths.length > 0 ? await context.cms.judgeField(field, context) : undefined;
    findings.push({ name, ...(ofCms ?? judgeValues(field, context.cms.words.admin)) });
  };
  for (const [name, spec] of Object.entries(fields)) {
    const definition = FIELDS[kind][name];
    if (definition) await judge(name, spec, definition);
  }
  for (const [name, spec] of Object.entries(custom_fields)) {
    const definition = { ...customFieldType(name, spec), key: `customFields.${name}` };
    await judge(`custom_fields.${name}`, spec, definition);
  }
  return findings;
}

/** What the records show about one field. */
function judgeValues({ kindMapping, name, spec, definition, records, isMissing }: MappedField, admin: string): Finding {
  const paths = pathsOf(spec);
  const path = paths.join(', ');
  if (paths.length === 0) return ok('fixed in the mapping');
  if (isMissing)
    return fail(
      `${path} is in none of ${records.length} ` +
        `records${definition.required ? ', and the gateway lists no event without it' : ''}`,
      `Compare the path with what the site sends for ${kindMapping.collection}: ${shownFields(records).join(', ')}.`,
    );
  const parts = partsOf(spec);
  const isFlag = definition.type === 'boolean';
  const hasValue = ({ cmsRecord }: SampledRecord) =>
    paths.some((each) => !isBlank(valueAtPath(cmsRecord, each), definition));
  const filled = records.filter((each) => (isFlag ? hasPaths(each.cmsRecord, paths) : hasValue(each)));
  const readable = filled.filter(({ record }) => !isEmpty(Reflect.get(record, definition.key), definition));
  const exampleIn = (found: SampledRecord | undefined): string | undefined =>
    found && paths.map((each) => formatSample(valueAtPath(found.cmsRecord, each))).join(' ');
  const example = exampleIn(filled.find(hasValue));
  const codecAdvice = `${
    parts
      ? 'Compare the "format" of each of the "parts" with the values of the site (docs/mapping.md, Dates)'
      : 'Give the format in the mapping ("as", see the codecs in docs/mapping.md)'
  }: ${kindMapping.kind}.${name}.`;
  if (filled.length > 0 && readable.length === 0 && !isFlag)
    return fail(`${path} holds ${example}, which is not readable`, codecAdvice);
  if (definition.required && readable.length < records.length) {
    const unreadable = exampleIn(filled.find((each) => !readable.includes(each)));
    const such = unreadable === undefined ? '' : ` (such as ${unreadable})`;
    const effect = definition.key === 'end' ? 'end when they start' : 'are in no list by date';
    return warn(
      `${path}: ${records.length - readable.length} of ${records.length} events have no readable ` +
        `value${such}, and ${effect}`,
      // A wrong format leaves at least half of the values unreadable. A few are slips of editors.
      unreadable !== undefined && 2 * readable.length <= filled.length
        ? codecAdvice
        : fillIn(admin, filled.length === 0),
    );
  }
  const untimed = parts ? filled.filter(({ cmsRecord }) => hasUnreadableTime(parts, cmsRecord)) : [];
  if (untimed.length > 0)
    return warn(
      `${path}: ${untimed.length} of ${records.length} events have a time of day that is not readable ` +
        `(such as ${exampleIn(untimed[0])}): it is taken for midnight`,
      codecAdvice,
    );
  if (records.length === 0) return ok(`${path}: there is no record to read`);
  return ok(
    `${path}: ${filled.length} of ${records.length} have it${example === undefined ? '' : `, such as ${example}`}`,
  );
}

const fillIn = (admin: string, isNowhere: boolean): string =>
  isNowhere
    ? `If the events have dates in ${admin}, the site stores them under another name: docs/mapping.md, ` +
      '"Find the facts", says how to find it. Otherwise fill them in.'
    : `Fill it in in ${admin}, or leave these events as they are.`;

/** The fields of a record as the site sends it. */
const shownFields = ([first]: readonly SampledRecord[]): string[] =>
  // `modifiedUtc` is the adapter's, not the site's.
  Object.keys(first?.cmsRecord ?? {}).filter((name) => name !== 'modifiedUtc');

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
