// The check of writing: for each kind it makes a draft, writes each field, reads it back, clears it, and deletes the
// draft for good. A field is right if the site then shows what was written.

import { randomBytes } from 'node:crypto';
import type { CallOptions, CmsRecord } from '../../cms/port.ts';
import { ApiError, CmsRejected } from '../../errors.ts';
import { FIELDS } from '../../interface/fields.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import { type JsonObject, setAt, valueIn } from '../../model/json.ts';
import type { CalendarRecord, Kind } from '../../model/records.ts';
import { formatSample, isBlank, type SiteSamples } from '../open-site.ts';
import { type CheckContext, type Finding, fail, ok, type PluginRecord, warn } from './checks.ts';
import { DRAFT_TIMES, isSameValue, shownByPlugin, type TrialField, trialSteps } from './trials.ts';

export async function checkWrites(context: CheckContext): Promise<Finding[]> {
  if (!context.write) return [];
  const { credentials } = context.connection;
  if (credentials === undefined) return [fail('service', 'writing needs a service account', context.advice.account)];
  const samples = await context.samples();
  // If the site lacks or refuses a collection, `checkLists` has said so.
  const listed = context.kindMappings.filter(({ kind }) => samples.records[kind] !== undefined);
  const findings: Finding[] = [];
  for (const kindMapping of listed)
    findings.push(...(await tryKind({ ...context, ...samples, kindMapping, options: { credentials } })));
  return findings;
}

interface Trial extends CheckContext, SiteSamples {
  kindMapping: KindMapping<Kind>;
  /** The options of each call: the service account. */
  options: CallOptions;
}

/** Creates a draft (of a kind without drafts: a term), tries its fields, and deletes it whatever happens. */
async function tryKind(trial: Trial): Promise<Finding[]> {
  const { kindMapping, connection, options, advice } = trial;
  const { kind, collection, storedAs } = kindMapping;
  if (kindMapping.readOnly) return [ok(kind, 'not written: the mapping is read-only here')];
  const notTried = await trial.whyNotWritten?.(kindMapping);
  if (notTried) return [notTried];
  const title = `calendar-gateway check ${randomBytes(4).toString('hex')}`;
  const draft = { title, status: 'draft', ...(kind === 'event' && trial.needsTimes ? DRAFT_TIMES : {}) };
  const fields = storedAs === 'posts' ? draft : { name: title, title };
  let created: CmsRecord;
  try {
    created = await createDraft(trial, fields);
  } catch (error) {
    return [fail(kind, `the site refuses a new record in ${collection}: ${reasonOf(error)}`, advice.createRefused)];
  }
  const id = Number(created.id);
  trial.webhooks?.expect(kind, collection);
  const findings: Finding[] = [];
  try {
    findings.push(...(await tryFields(trial, id)));
  } finally {
    await connection.cms.delete(kindMapping, id, options).catch((error: unknown) => {
      const message = `could not delete record ${id} of ${collection}: ${reasonOf(error)}`;
      findings.push(fail(`${kind} removal`, message, `Delete "${title}" in ${advice.admin}.`));
    });
  }
  return findings;
}

/** A site may require more than a title, as an address: then `fields` gets the first trial value of each field. */
async function createDraft(trial: Trial, fields: JsonObject): Promise<CmsRecord> {
  const { kindMapping, connection, options, site, linkTables, records } = trial;
  const create = () => connection.cms.create(kindMapping, kindMapping.write(fields, { site, linkTables }), options);
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof CmsRejected) || error.kind !== 'invalid') throw error;
    for (const { property, values } of trialSteps(records, site.timezone, kindMapping).flat())
      setAt(fields, property.split('.'), values[0]);
    return create();
  }
}

const NO_PLUGIN_ANSWER =
  'Allow the account to read its drafts there, and run check --write again: the API of the plugin tells whether the ' +
  'plugin reads what the gateway writes.';

/** A finding for each field that is not right, and one that counts those that are. */
async function tryFields(trial: Trial, id: number): Promise<Finding[]> {
  const { kindMapping, records, site } = trial;
  const { kind, collection, storedAs } = kindMapping;
  const shown = await trial.readByPlugin?.(kindMapping, id);
  const isRefused = shown !== undefined && !shown.record;
  const results: Finding[] = [];
  for (const fields of trialSteps(records, site.timezone, kindMapping))
    results.push(...(await tryTogether(trial, id, fields)));
  const wrong = results.filter(({ state }) => state !== 'ok');
  const successes = `${results.length - wrong.length} of ${results.length} fields were written, read back and cleared`;
  return [
    ...(isRefused ? [warn(kind, `${shown.api} refuses the draft`, NO_PLUGIN_ANSWER)] : []),
    ...wrong.map((finding) => ({ ...finding, name: `${kind}.${finding.name}` })),
    ok(kind, `created a ${storedAs === 'posts' ? 'draft' : 'term'} in ${collection}; ${successes}`),
  ];
}

const FIELD_REFUSED =
  'Compare the codec of the field with what the site accepts (docs/mapping.md), and the capabilities of the account.';
const CLEAR_WITH =
  'Give the empty value that the site accepts in the mapping: "clearWith": null, [] or, of a ' +
  'website, "-" (docs/mapping.md).';

/** Writes fields in one call, and then clears those that were written. One finding for each. */
async function tryTogether(trial: Trial, id: number, fields: readonly TrialField[]): Promise<Finding[]> {
  const outcome = await writeFirstAccepted(trial, id, fields);
  if (outcome.refused !== undefined) {
    const message = `the site refuses writing it: ${outcome.refused}`;
    return fields.map(({ name }) => fail(name, message, FIELD_REFUSED));
  }
  const findings = new Map(fields.map((field) => [field.name, judgeWritten(trial, field, outcome)]));
  const clearable = fields.filter(({ name, empty }) => empty !== undefined && findings.get(name)!.state === 'ok');
  const cleared = clearable.length > 0 ? await tryClearing(trial, id, clearable) : [];
  for (const finding of cleared) findings.set(finding.name, finding);
  return [...findings.values()];
}

async function writeFirstAccepted(trial: Trial, id: number, fields: readonly TrialField[]): Promise<Outcome> {
  const attempts = Math.max(...fields.map(({ values }) => values.length));
  for (let at = 0; ; at += 1) {
    const outcome = await write(trial, id, fields, ({ values }) => values[at] ?? values[0]);
    if (outcome.refused === undefined || at + 1 >= attempts) return outcome;
  }
}

async function tryClearing(trial: Trial, id: number, fields: readonly TrialField[]): Promise<Finding[]> {
  const outcome = await write(trial, id, fields, ({ empty }) => empty);
  if (outcome.refused !== undefined)
    return fields.map(({ name }) => warn(name, `the site refuses clearing it: ${outcome.refused}`, CLEAR_WITH));
  return fields.map((field) =>
    isKept(field, outcome)
      ? judgeByPlugin(trial, field, outcome)
      : warn(field.name, `clearing it was accepted, but ${readBack(trial, field, outcome)}`, CLEAR_WITH),
  );
}

/** `refused`: why the site refuses the write. */
type Outcome = Accepted | { refused: string };

interface Accepted {
  refused?: undefined;
  valueFor: (field: TrialField) => unknown;
  before: CalendarRecord;
  after: CalendarRecord;
  /** Undefined if the plugin has no API of its own. Undefined also after clearing alone, which proves nothing. */
  shown: PluginRecord | undefined;
}

async function write(
  trial: Trial,
  id: number,
  fields: readonly TrialField[],
  valueFor: (field: TrialField) => unknown,
): Promise<Outcome> {
  const { kindMapping, connection, options, site, linkTables } = trial;
  const { cms } = connection;
  const read = () => cms.read(kindMapping, id, { view: 'editor', detail: 'mapped' }, options);
  try {
    const current = await read();
    const changes = {};
    for (const field of fields) setAt(changes, field.property.split('.'), valueFor(field));
    const body = kindMapping.write(changes, { site, current, linkTables });
    await cms.update(kindMapping, id, body, options);
    const after = kindMapping.read(await read(), site, linkTables);
    // To clear a phone number proves nothing: a plugin that reads another key shows none then, too.
    const provesSomething = fields.some((field) => !isBlank(valueFor(field)));
    const shown = provesSomething ? await trial.readByPlugin?.(kindMapping, id) : undefined;
    return { valueFor, before: kindMapping.read(current, site, linkTables), after, shown };
  } catch (error) {
    if (error instanceof CmsRejected || error instanceof ApiError) return { refused: reasonOf(error) };
    throw error;
  }
}

const VALUE_CHANGED =
  "The site stored another value than was sent: compare the field's type on the site (number, phone, choice) with " +
  'the codec in the mapping (docs/mapping.md), or leave the field out of the mapping. A field that holds numbers ' +
  'only needs the codec "number", and { "number": { "decimal": "," } } if the site expects a comma.';

function judgeWritten(trial: Trial, field: TrialField, outcome: Accepted): Finding {
  if (isKept(field, outcome)) return judgeByPlugin(trial, field, outcome);
  const { before, after } = outcome;
  const message = `writing it was accepted, but ${readBack(trial, field, outcome)}`;
  const isUnchanged = JSON.stringify(storedValue(after, field)) === JSON.stringify(storedValue(before, field));
  if (!isUnchanged) return fail(field.name, message, VALUE_CHANGED);
  // A type of WordPress need not support an excerpt, or a content.
  const isOptional = /^(excerpt|content)$/.test(pathOf(trial, field));
  return (isOptional ? warn : fail)(field.name, message, trial.advice.lost);
}

const storedValue = (record: CalendarRecord, { property }: TrialField): unknown => valueIn(record, property.split('.'));

const isKept = (field: TrialField, { valueFor, after }: Accepted): boolean =>
  isSameValue(field.name, storedValue(after, field), valueFor(field));

const readBack = (trial: Trial, field: TrialField, { valueFor, after }: Accepted): string =>
  `${pathOf(trial, field)} reads back as ${formatSample(storedValue(after, field))} ` +
  `instead of ${formatSample(valueFor(field))}`;

const pathOf = ({ kindMapping }: Trial, { property }: TrialField): string =>
  kindMapping.writtenPathsByProperty.get(property)?.join(', ') ?? '';

const OTHER_KEY =
  'Compare the key and the codec of the field in the mapping with those of the mapping that init proposes ' +
  '(docs/mapping.md): the plugin reads the field from another key, or takes the value in another form.';

/** The gateway reads back the key that it wrote, even a wrong one. The plugin's own API then shows no such value. */
function judgeByPlugin({ kindMapping }: Trial, field: TrialField, { valueFor, shown }: Accepted): Finding {
  const { name } = field;
  const right = ok(name, '');
  if (!shown?.record) return right;
  const value = shown.record[name];
  const definition = FIELDS[kindMapping.kind][name];
  // The plugin's API has neither custom fields nor the additions of this gateway's API.
  const isUnknownThere = !definition || definition.parameter?.addition;
  if (value === undefined && isUnknownThere) return right;
  const written = valueFor(field);
  if (isSameValue(name, shownByPlugin(value, written), written)) return right;
  const found = `${shown.api} shows ${formatSample(value)} after ${formatSample(written)} was written`;
  return fail(name, `the plugin takes it for something else: ${found}`, OTHER_KEY);
}

function reasonOf(error: unknown): string {
  if (error instanceof CmsRejected || error instanceof ApiError) {
    const { params = {} } = error instanceof ApiError ? error.data : {};
    return `${error.code}, ${Object.values(params as object).join(' ') || error.message}`;
  }
  return error instanceof Error ? error.message : String(error);
}
