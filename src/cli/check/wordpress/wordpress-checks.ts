// What `check` does for WordPress only: the companion plugin, its schema, its capabilities, its plugins and
// their hidden past events.

import { objectOrEmpty } from '../../../cms/wordpress/rest-api.ts';
import { GENERAL_PERMISSIONS } from '../../../cms/wordpress/site-info.ts';
import { basicCredentialsOf } from '../../../config.ts';
import type { Config } from '../../../config-schema.ts';
import type { KindMapping } from '../../../mapping/mapping.ts';
import { metaKeys } from '../../../mapping/meta-keys.ts';
import { type EventRecord, type Kind, PLURALS } from '../../../model/records.ts';
import { formatWallTime } from '../../../time/wall-time.ts';
import { basicAuth, openSite, orIfRefused, type RestConnection } from '../../open-site.ts';
import { pathsOf, readOldestEvents, valueAtPath } from '../../samples.ts';
import type { Advice } from '../advice.ts';
import {
  type ChangedValue,
  type Check,
  type CheckContext,
  type CmsChecks,
  type Finding,
  fail,
  type MappedField,
  ok,
  warn,
} from '../checks.ts';
import { SERIES_CHECK } from '../lists.ts';
import { advise } from './advice.ts';

/** Opens the site of the configuration. */
export function openWordPressChecks(config: Config): CmsChecks {
  const connection = openSite(config.upstream.url, basicCredentialsOf(config), config.upstream.limits);
  return {
    connection,
    advise,
    async headers() {
      const query = { query: { _fields: 'name' } };
      const ofVisitor = connection.call('GET', '', query, { credentials: undefined });
      return ((await orIfRefused(ofVisitor, undefined)) ?? (await connection.call('GET', '', query))).headers;
    },
    siteChecks: [],
    accountChecks: [companionPlugin(connection)],
    listChecks: LIST_CHECKS,
    gatewayChecks: [wrongLogins(connection)],
    generalPermissions: GENERAL_PERMISSIONS,
    judgeField,
    judgeFields: requiredFields,
    // WordPress stores a draft with a title alone.
    draftOf: () => ({}),
    readByPlugin: readByPlugin(connection),
    judgeChange,
  };
}

/** By the part of the companion plugin for the event plugin. */
const PLUGIN_APIS: Readonly<Record<string, string>> = { 'the-events-calendar': 'tribe/events/v1' };

const readByPlugin =
  ({ call }: RestConnection): NonNullable<CmsChecks['readByPlugin']> =>
  async ({ kind }, id, { source }) => {
    const api = PLUGIN_APIS[source.wordpress?.hooks ?? ''];
    if (api === undefined) return undefined;
    const answer = await orIfRefused(call('GET', `${api}/${PLURALS[kind]}/${id}`), undefined);
    return answer && { api, record: objectOrEmpty(answer.json) };
  };

/** The companion plugin has a route in it, so the site's index names it. */
const COMPANION_NAMESPACE = 'calendar-gateway/v1';

const companionPlugin = ({ call }: RestConnection): Check => ({
  area: 'site',
  name: 'companion plugin',
  isRequired: true,
  async run(context) {
    const { mapping, pluginOptions } = context;
    if (!mapping.source.wordpress?.requiresCompanionPlugin) return [];
    const { json } = await call('GET', '', { query: { _fields: 'namespaces' } });
    const { namespaces } = objectOrEmpty(json);
    if (Array.isArray(namespaces) && namespaces.includes(COMPANION_NAMESPACE)) return [];
    const missing = await missingWithoutPlugin(context);
    if (missing.length === 0) return [];
    const more = missing.length > 1 ? ` and ${missing.length - 1} more` : '';
    return fail(`is missing: the site does not show ${missing[0]}${more}`, advise('companion-plugin', pluginOptions));
  },
});

/** What the companion plugin would open: the collection of events, and keys of the collections that are there. */
async function missingWithoutPlugin({ kinds, mapping, connection, collectionInfo }: CheckContext): Promise<string[]> {
  const { cms, credentials } = connection;
  const missing: string[] = [];
  for (const kindMapping of kinds) {
    const { kind, collection } = kindMapping;
    const { source } = mapping;
    const info = await collectionInfo(kindMapping);
    if (!info && kind === 'event' && !(await orIfRefused(cms.hasCollection(kindMapping, { credentials }), true)))
      missing.push(`the collection ${collection}`);
    const shown = info?.fields;
    if (!shown) continue;
    // If only this one is missing, its own check also says how to do without it.
    for (const { key, field } of metaKeys(kind, source[kind] ?? {}, source.event))
      if (field !== 'hide_from_listings' && !shown.includes(`meta.${key}`))
        missing.push(`meta.${key} of ${collection}`);
  }
  return missing;
}

const wrongLogins = ({ call }: RestConnection): Check => ({
  area: 'gateway',
  name: 'wrong logins',
  async run({ pluginOptions }) {
    const credentials = basicAuth('calendar-gateway-check', 'no such password');
    const accepted = await orIfRefused(call('GET', 'wp/v2/types', {}, { credentials }), undefined);
    return accepted
      ? warn(
          'read as anonymous: WordPress answers 200 to a wrong password on public reads (the gateway itself checks the logins of its callers)',
          advise('companion-plugin', pluginOptions),
        )
      : ok('are refused by the site on public reads too');
  },
});

/** WordPress stores these only for types that support them. */
const SUPPORTED_PATHS = new Set(['excerpt', 'content']);

async function judgeField(field: MappedField, { pluginOptions }: CheckContext): Promise<Finding | undefined> {
  const { kindMapping, name, spec, definition, writableFields, records, isMissing } = field;
  const paths = pathsOf(spec);
  const path = paths.join(', ');
  const absent = `${path} is in none of ${records.length} records`;
  if (isMissing && definition.key === 'hidden' && path.startsWith('meta.'))
    return fail(
      `${absent}: the gateway lists the events that the site hides from its lists`,
      advise('hidden-flag', `${kindMapping.kind}.${name}`, pluginOptions, metaKeysOf(writableFields), path),
    );
  const unregistered = unregisteredKeys(field);
  if (unregistered.length > 0)
    return fail(
      `${unregistered.join(', ')} is not in the schema of ${kindMapping.collection}: WordPress drops what is written there`,
      unregistered[0]?.startsWith('acf.')
        ? advise('acf-in-rest')
        : advise('register-keys', pluginOptions, metaKeysOf(writableFields), unregistered[0]),
    );
  if (definition.type === 'boolean' && typeof spec === 'string' && path.startsWith('meta.')) {
    // The value in the database is not of the type with which the key is registered.
    const hidden = records.filter(({ cmsRecord }) => valueAtPath(cmsRecord, path) === null).length;
    if (hidden > 0)
      return warn(
        `${path}: in ${hidden} of ${records.length} records the site stores no boolean, perhaps yes and no. WordPress shows nothing then, and the API says false`,
        advise('stored-forms', `${kindMapping.kind}.${name}`, pluginOptions),
      );
  }
  const advice = isMissing ? closedFieldAdvice(paths, pluginOptions, writableFields) : undefined;
  return advice && fail(absent + (definition.required ? ', and the gateway lists no event without it' : ''), advice);
}

/** `meta` and `acf` keys that a write of the field would use and that the schema lacks. */
function unregisteredKeys({ kindMapping, definition, writableFields }: MappedField): string[] {
  const location = (kindMapping.locations as ReadonlyMap<string, string>).get(definition.key);
  return writableFields === undefined ? [] : pluginKeys(location).filter((key) => !writableFields.includes(key));
}

const pluginKeys = (location = ''): string[] => [...new Set(location.match(/\b(meta|acf)\.[^\s,.]+/g))];

const metaKeysOf = (fields: readonly string[] = []): string[] => fields.filter((name) => name.startsWith('meta.'));

/** `fields`: those of the site's schema. */
function closedFieldAdvice(
  [path = '']: readonly string[],
  pluginOptions: string,
  fields: string[] | undefined,
): Advice | undefined {
  if (path.startsWith('acf.')) return advise('acf-in-rest');
  return path.startsWith('meta.') ? advise('register-keys', pluginOptions, metaKeysOf(fields), path) : undefined;
}

/** Fields that the site demands of a new record and that the mapping does not write. */
async function requiredFields(kindMapping: KindMapping<Kind>, { collectionInfo }: CheckContext): Promise<Finding[]> {
  const { requiredFields: required = [] } = (await collectionInfo(kindMapping)) ?? {};
  const written = [...kindMapping.locations.values()].flatMap((location) => location.split(', '));
  const missing = required.filter((path) => !written.some((each) => each === path || each.startsWith(`${path}.`)));
  if (kindMapping.readOnly || missing.length === 0) return [];
  const message = `the site requires ${missing.join(', ')}, which the mapping does not write: the site refuses every new ${kindMapping.kind}`;
  return [{ name: 'required', ...warn(message, advise('required-field')) }];
}

async function judgeChange(
  { kindMapping, path, isLost, message }: ChangedValue,
  { pluginOptions, collectionInfo }: CheckContext,
): Promise<Finding | undefined> {
  if (SUPPORTED_PATHS.has(path)) return warn(message, advise('type-support'));
  if (!isLost) return undefined;
  const { writableFields } = (await collectionInfo(kindMapping)) ?? {};
  const keys = pluginKeys(path);
  const [unknown] = keys.filter((key) => !writableFields?.includes(key));
  // The site knows the field, and another reason is likelier.
  if (keys.length > 0 && unknown === undefined) return undefined;
  if (unknown === undefined) return fail(message, advise('companion-plugin', pluginOptions));
  if (unknown.startsWith('acf.')) return fail(message, advise('acf-in-rest'));
  return fail(message, advise('register-keys', pluginOptions, metaKeysOf(writableFields), unknown));
}

/** With fewer events, all of them may well be in the future. */
const MIN_EVENTS = 10;

const LIST_CHECKS: readonly Check[] = [
  {
    area: 'lists',
    name: 'past events',
    run: async ({ mapping, site, connection }) =>
      judgePastEvents(await readOldestEvents(connection, mapping, site), formatWallTime(Date.now())),
  },
  SERIES_CHECK,
];

/** Some plugins hide past events from lists: then none of many events is over. `nowUtc`: `YYYY-MM-DD HH:MM:SS`. */
export function judgePastEvents(events: readonly Pick<EventRecord, 'endUtc'>[], nowUtc: string): Finding[] {
  const ends = events.map(({ endUtc }) => endUtc).filter((end) => end !== '');
  if (ends.length < MIN_EVENTS || ends.some((end) => end <= nowUtc)) return [];
  return [warn(`none among ${ends.length} events: some plugins list only upcoming ones`, advise('past-events'))];
}
