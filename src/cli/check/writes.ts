// Checks of writing: writes each field on a draft, reads it back, clears it, and deletes the draft for good.
// Meanwhile it listens on the gateway's admin port for the webhooks of these writes.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { CallOptions, CmsRecord } from '../../cms/port.ts';
import type { Config } from '../../config-schema.ts';
import { ApiError, CmsRejected } from '../../errors.ts';
import { createAdmin } from '../../http/admin.ts';
import { FIELDS, type Field } from '../../interface/fields.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import { objectOrEmpty } from '../../model/json.ts';
import { type CalendarRecord, type EventRecord, type Kind, NO_WEBSITE } from '../../model/records.ts';
import { formatSample, isBlank, type SampledRecords, type Samples } from '../open-site.ts';
import {
  type Check,
  type CheckContext,
  type CmsWords,
  type Finding,
  fail,
  ok,
  type WebhookListener,
  warn,
} from './checks.ts';

export const WRITE_CHECK: Check = {
  area: 'writes',
  onlyWithWrite: true,
  async run(context) {
    const { connection, kinds, unlisted } = context;
    if (connection.credentials === undefined)
      return { name: 'service', ...fail('writing needs a service account', context.cms.words.account) };
    const options = { credentials: connection.credentials };
    const trial: WriteTrial = { ...context, ...(await context.samples()), options };
    const findings: Finding[] = [];
    for (const kindMapping of kinds)
      if (!unlisted.has(kindMapping.kind)) findings.push(...(await tryKind(trial, kindMapping)));
    return findings;
  },
};

interface WriteTrial extends CheckContext, Samples {
  options: CallOptions;
}

/** Creates a draft (of a kind without drafts: a term), tries its fields, and deletes it whatever happens. */
async function tryKind(trial: WriteTrial, kindMapping: KindMapping<Kind>): Promise<Finding[]> {
  const { connection, cms: own, options, site, mapping } = trial;
  const { cms } = connection;
  const { kind: name, collection } = kindMapping;
  if (kindMapping.readOnly) return [{ name, ...ok('not written: the mapping is read-only here') }];
  const reason = await own.whyNotWritten?.(kindMapping);
  if (reason) return [{ name, ...reason }];
  // Payload may require a start and an end.
  const title = `calendar-gateway check ${randomBytes(4).toString('hex')}`;
  const fields =
    kindMapping.storedAs === 'posts'
      ? { title, status: 'draft', ...(mapping.cms === 'payload' && name === 'event' ? DRAFT_TIMES : {}) }
      : { name: title, title };
  let created: CmsRecord;
  try {
    created = await cms.create(kindMapping, kindMapping.write(fields, { site }), options);
  } catch (error) {
    const message = `the site refuses a new record in ${collection}: ${errorReason(error)}`;
    return [{ name, ...fail(message, own.words.createRefused) }];
  }
  const id = Number(created.id);
  trial.webhooks?.wrote(name, collection);
  const findings: Finding[] = [];
  try {
    const judge = await own.readByPlugin?.(kindMapping, id, mapping);
    if (judge && !judge.record) findings.push({ name, ...warn(`${judge.api} refuses the draft`, NO_JUDGE) });
    const results = await tryFields(trial, kindMapping, id);
    const failures = results.filter(({ state }) => state !== 'ok');
    const written = results.length - failures.length;
    const successes = `${written} of ${results.length} fields were written, read back and cleared`;
    findings.push(...failures.map((each) => ({ ...each, name: `${name}.${each.name}` })), {
      name,
      ...ok(`created a ${kindMapping.storedAs === 'posts' ? 'draft' : 'term'} in ${collection}; ${successes}`),
    });
  } finally {
    await cms.delete(kindMapping, id, options).catch((error: unknown) => {
      findings.push({
        name: `${name} removal`,
        ...fail(
          `could not delete record ${id} of ${collection}: ${errorReason(error)}`,
          `Delete "${title}" in ${own.words.admin}.`,
        ),
      });
    });
  }
  return findings;
}

/** One finding a field. */
async function tryFields(trial: WriteTrial, kindMapping: KindMapping<Kind>, id: number): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const fields of trialSteps(trial.records, trial.site.timezone, kindMapping)) {
    const attempt = (at: number) =>
      tryStep(trial, kindMapping, id, fields, ({ values }) => values[at] ?? values[0], false);
    const alternatives = Math.max(...fields.map(({ values }) => values.length));
    let tried = await attempt(0);
    for (let at = 1; tried.isRefused && at < alternatives; at += 1) tried = await attempt(at);
    const written = tried.findings.filter(({ state }) => state === 'ok').map(({ name }) => name);
    const clearable = fields.filter(({ name, empty }) => empty !== undefined && written.includes(name));
    const cleared =
      clearable.length > 0 ? await tryStep(trial, kindMapping, id, clearable, ({ empty }) => empty, true) : undefined;
    findings.push(...tried.findings.map((each) => cleared?.findings.find(({ name }) => name === each.name) ?? each));
  }
  return findings;
}

const VALUE_CHANGED =
  "The site stored another value than was sent: compare the field's type on the site (number, phone, choice) with " +
  'the codec in the mapping (docs/mapping.md), or leave the field out of the mapping. A field that holds numbers ' +
  'only needs the codec "number", and { "number": { "decimal": "," } } if the site expects a comma.';
const OTHER_KEY =
  'Compare the key and the codec of the field in the mapping with those of the mapping that init proposes ' +
  '(docs/mapping.md): the plugin reads the field from another key, or takes the value in another form.';
const NO_JUDGE =
  'Allow the account to read its drafts there, and run check --write again: the API of the plugin tells whether the ' +
  'plugin reads what the gateway writes.';
const FIELD_REFUSED =
  'Compare the codec of the field with what the site accepts (docs/mapping.md), and the capabilities of the account.';
const CLEAR_WITH =
  'Give the empty value that the site accepts in the mapping: "clearWith": null, [] or, of a ' +
  'website, "-" (docs/mapping.md).';

/**
 * Writes the values, reads them back and compares. Of what the gateway wrote itself, an API of the plugin knows better:
 * it leaves out the phone number of a venue that was written to a key which it does not read.
 */
async function tryStep(
  trial: WriteTrial,
  kindMapping: KindMapping<Kind>,
  id: number,
  fields: readonly TrialField[],
  valueFor: (field: TrialField) => unknown,
  isClearing: boolean,
): Promise<{ findings: Finding[]; isRefused: boolean }> {
  const { connection, options, site, linkTables } = trial;
  const { cms } = connection;
  const action = isClearing ? 'clearing it' : 'writing it';
  const read = () => cms.read(kindMapping, id, { view: 'editor', detail: 'mapped' }, options);
  const judge = (field: TrialField, before: CalendarRecord, after: CalendarRecord, own: OwnRecord) => {
    const { name, key, isCustom } = field;
    const [written, value] = [valueFor(field), valueIn(after, field)];
    if (isSameValue(name, value, written)) {
      const meant = own?.record?.[name];
      const isUnknown = meant === undefined && (isCustom || FIELDS[kindMapping.kind][name]?.parameter?.addition);
      if (!own?.record || isUnknown || isSameValue(name, shownByPlugin(meant, written), written)) return ok('');
      const found = `${own.api} shows ${shown(meant)} after ${shown(written)} was written`;
      return fail(`the plugin takes it for something else: ${found}`, OTHER_KEY);
    }
    const path = kindMapping.writtenPaths.get(isCustom ? `customFields.${key}` : key)?.join(', ') ?? '';
    const message = `${action} was accepted, but ${path} reads back as ${shown(value)} instead of ${shown(written)}`;
    if (isClearing) return warn(message, CLEAR_WITH);
    const isLost = JSON.stringify(value) === JSON.stringify(valueIn(before, field));
    // A type of WordPress need not support these.
    if (isLost && /^(excerpt|content)$/.test(path)) return warn(message, trial.cms.words.lost);
    return fail(message, isLost ? trial.cms.words.lost : VALUE_CHANGED);
  };
  try {
    const context = { site, current: await read(), linkTables };
    const before = kindMapping.read(context.current, site, linkTables);
    await cms.update(kindMapping, id, kindMapping.write(changesOf(fields, valueFor) as never, context), options);
    const after = kindMapping.read(await read(), site, linkTables);
    // A plugin that does not read the key of a flag shows its default: one of the two values of the flag.
    const isAsked = !isClearing || fields.some(({ empty }) => typeof empty === 'boolean');
    const own = isAsked ? await trial.cms.readByPlugin?.(kindMapping, id, trial.mapping) : undefined;
    const findings = fields.map((field) => ({ name: field.name, ...judge(field, before, after, own) }));
    return { findings, isRefused: false };
  } catch (error) {
    if (!(error instanceof CmsRejected || error instanceof ApiError)) throw error;
    const message = `the site refuses ${action}: ${errorReason(error)}`;
    const finding = isClearing ? warn(message, CLEAR_WITH) : fail(message, FIELD_REFUSED);
    return { findings: fields.map(({ name }) => ({ name, ...finding })), isRefused: true };
  }
}

type OwnRecord = Awaited<ReturnType<NonNullable<CheckContext['cms']['readByPlugin']>>>;

const shown = (value: unknown): string => (isBlank(value) ? 'nothing' : formatSample(value));

function errorReason(error: unknown): string {
  if (error instanceof CmsRejected || error instanceof ApiError) {
    const { params = {} } = error instanceof ApiError ? error.data : {};
    return `${error.code}, ${Object.values(params as object).join(' ') || error.message}`;
  }
  return error instanceof Error ? error.message : String(error);
}

interface TrialField {
  /** In the API: `all_day`, `custom_fields.seats`. */
  name: string;
  /** In the record, or in its custom fields: `allDay`, `seats`. */
  key: string;
  isCustom: boolean;
  /** The first that the site does not refuse counts. */
  values: readonly unknown[];
  /** Written afterwards, of a flag the other value; undefined for a field that is not cleared. */
  empty: unknown;
}

/** Not tried: they identify the draft, or change which other fields WordPress accepts. */
const SKIPPED_KEYS = new Set(['title', 'status', 'author', 'date', 'dateUtc', 'image', 'slug', 'parent', 'name']);

/**
 * Where WordPress stores the status: a custom field there could publish the draft. The compiler refuses such a field of
 * Payload.
 */
const STATUS = 'status';

/** Written in one call: plugins compare start and end, and one coordinate alone does not name a place. */
const DRAFT_TIMES = { start: '2031-05-01 19:30:00', end: '2031-05-01 21:00:00' };
const TOGETHER: Readonly<Record<string, unknown>> = { ...DRAFT_TIMES, latitude: 52.5, longitude: 13.4 };

/** A fraction, an integer for a field that refuses fractions, and one for a field that refuses large numbers. */
const NUMBERS = ['12.5', '12', '1'];
const TEXT = 'Check 12';
/** The currency of the first must survive. A field that holds numbers only stores another text than the second. */
const COSTS = ['12.50 €', '12 - 15'];

const isNumber = (written: unknown): boolean => NUMBERS.includes(written as string);

/** The fields of each call: those of `TOGETHER`, then every other field alone. */
export function trialSteps(
  records: SampledRecords,
  timezone: string,
  { kind, writable, numeric, customFields }: KindMapping<Kind>,
): TrialField[][] {
  const own = Object.entries(FIELDS[kind]).flatMap(([name, field]) => {
    const { key, type, words } = field;
    if (!(writable as ReadonlySet<string>).has(key) || SKIPPED_KEYS.has(key)) return [];
    const value = TOGETHER[key] ?? trialValue(records, timezone, name, field);
    const values = numeric.has(key) ? NUMBERS : (words ?? (name === 'cost' ? COSTS : [value]));
    const isCleared = type === 'text' || type === 'word' || type === 'ids';
    const empty = isCleared ? field.empty : type === 'boolean' ? !value : undefined;
    return values[0] === undefined ? [] : [{ name, key, isCustom: false, values, empty }];
  });
  const custom = [...customFields].flatMap(([key, { type, accessor }]) => {
    if (!accessor.write || accessor.storedPaths.includes(STATUS)) return [];
    // A field may take only some words, such as those of a list of choices.
    const known = records[kind]
      ?.map(({ record }) => (record as Partial<EventRecord>).customFields?.[key])
      .find(Boolean);
    const values = type === 'boolean' ? [true] : accessor.isNumeric ? NUMBERS : known ? [TEXT, known] : [TEXT];
    const empty = type === 'text' ? '' : undefined;
    return [{ name: `custom_fields.${key}`, key, isCustom: true, values, empty }];
  });
  const together = own.filter(({ key }) => key in TOGETHER);
  const alone = [...own, ...custom].filter((field) => !together.includes(field));
  return [...(together.length > 0 ? [together] : []), ...alone.map((field) => [field])];
}

function trialValue(records: SampledRecords, timezone: string, name: string, field: Field): unknown {
  switch (field.type) {
    case 'boolean':
      return field.empty !== true;
    case 'zone':
      return timezone === 'Europe/Paris' ? 'Europe/Rome' : 'Europe/Paris';
    case 'ids': {
      const target = linkTarget(records, name);
      return target && [target.id];
    }
    case 'text':
      return TEXTS[name] ?? TEXT;
    case 'html':
      return 'Written by check.';
    default:
      return undefined;
  }
}

const TEXTS: Readonly<Record<string, string>> = {
  website: 'https://check.example/?a=1',
  online_url: 'https://check.example/?a=1',
  email: 'check@example.org',
  phone: '555-010-0112',
  zip: '12345',
};

/** A published record that a field may link to. */
function linkTarget(records: SampledRecords, field: string): CalendarRecord | undefined {
  const kind = FIELDS.event[field]?.references;
  return kind && records[kind]?.find(({ record }) => !('status' in record) || record.status === 'publish')?.record;
}

/** What a mapping writes for values of the fields of one call, which are custom fields or none is. */
function changesOf(fields: readonly TrialField[], valueFor: (field: TrialField) => unknown): object {
  const values = Object.fromEntries(fields.map((field) => [field.key, valueFor(field)]));
  return fields.some(({ isCustom }) => isCustom) ? { customFields: values } : values;
}

const valueIn = (record: CalendarRecord, { key, isCustom }: TrialField): unknown =>
  isCustom ? (record as Partial<EventRecord>).customFields?.[key] : Reflect.get(record, key);

/** @param name of the field in the API */
function isSameValue(name: string, read: unknown, written: unknown): boolean {
  if (Array.isArray(written)) return JSON.stringify(read) === JSON.stringify(written);
  if (written === '') return read === '' || read === NO_WEBSITE || read === undefined;
  if (isNumber(written)) return read !== '' && Number(read) === Number(written);
  // Fields for phone numbers store them in the format of the country.
  if (name === 'phone') return digitsOf(read) === digitsOf(written);
  if (name === 'cost' && typeof read === 'string' && typeof written === 'string') return hasMoney(read, written);
  // WordPress adds HTML tags around a text.
  return typeof written === 'string' && typeof read === 'string' ? read.includes(written) : read === written;
}

/** A value in an API of the plugin as the mapping reads it: of linked records, one or several, the ids. */
const shownByPlugin = (value: unknown, written: unknown): unknown =>
  Array.isArray(written) ? [value].flat().map((record) => objectOrEmpty(record).id) : value;

/** Amounts and currencies, in their order: `12.50` and `€`, however the site writes the blank between them. */
const moneyIn = (text: string): string[] => text.match(/[\d.,]+|[^\d.,\s–-]+/gu) ?? [];

function hasMoney(read: string, written: string): boolean {
  const found = moneyIn(read);
  return moneyIn(written).every((part) => found.splice(0, found.indexOf(part) + 1).length > 0);
}

const digitsOf = (value: unknown): string => String(value).replace(/\D/g, '');

export const WEBHOOK_CHECK: Check = {
  area: 'gateway',
  name: 'webhooks',
  async run({ config, pluginOptions, cms: { words }, webhooks }) {
    if (webhooks) return webhooks.finding();
    if (config.webhook.secret !== undefined) return [];
    return warn(
      `none: the gateway sees a change made in the CMS within ${config.sync.intervalS} s`,
      'To see changes at once, set CALENDAR_WEBHOOK_SECRET, and make the plugin of the site with the same secret. ' +
        `${words.plugin(`${pluginOptions} --webhook-url http://GATEWAY:${config.listen.adminPort}/-/changes`)}`,
    );
  },
};

const TIMEOUT_MS = 3000;
const POLL_MS = 50;

/**
 * Returns `undefined` if no secret is configured: the gateway then accepts no webhooks.
 * @param pluginOptions options of `plugin`, for the advice
 */
export async function listenForWebhooks(
  { webhook, listen }: Config,
  words: CmsWords,
  pluginOptions: string,
  wait: (ms: number) => Promise<unknown>,
): Promise<WebhookListener | undefined> {
  const { secret } = webhook;
  if (secret === undefined) return undefined;
  /** Kinds by the collection in which `check` wrote a record, and the collections that webhooks named. */
  const written = new Map<string, Kind>();
  const received = new Set<string>();
  const admin = createAdmin({
    metrics: { contentType: '', text: async () => '' },
    status: () => ({}),
    isComplete: () => false,
    isLive: () => false,
    isDraining: () => false,
    onWebhook: async (changes) => {
      for (const { collection } of changes) received.add(collection);
    },
    webhookSecret: secret,
  });
  const server = createServer(admin);
  const port = listen.adminPort;
  const isListening = await once(server.listen(port, listen.adminHost), 'listening').then(
    () => true,
    () => false,
  );
  return {
    wrote(kind, collection) {
      written.set(collection, kind);
    },
    async finding() {
      if (!isListening)
        return warn(
          `port ${port} is in use (by the gateway?): check cannot listen for webhooks`,
          'Stop the gateway while check --write runs, or look at its log while you change an event.',
        );
      if (written.size === 0) return [];
      const missing = () => [...written.keys()].filter((collection) => !received.has(collection));
      for (let waitedMs = 0; missing().length > 0 && waitedMs < TIMEOUT_MS; waitedMs += POLL_MS) await wait(POLL_MS);
      const kinds = missing().map((collection) => `${written.get(collection)} (${collection})`);
      if (kinds.length === 0) return ok(`arrived for each kind that was written: ${[...written.values()].join(', ')}`);
      return fail(
        `none arrived on port ${port} within ${TIMEOUT_MS / 1000} s for ${kinds.join(', ')}`,
        'Is the plugin on the site, made for this mapping and version, with this secret and the address ' +
          `http://GATEWAY:${port}/-/changes? Does the site reach that address (listen.adminHost is the ` +
          `loopback address by default)? ${words.plugin(pluginOptions)}`,
      );
    },
    close() {
      if (isListening) server.close();
      server.closeAllConnections();
    },
  };
}
