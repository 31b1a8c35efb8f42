// What `check` advises for Payload: one row for each problem. test/cli/check/payload-advice.test.ts follows
// each and shows that the finding is gone.

import { programName } from '../../program-name.ts';
import { adviseFrom, COMMON_ROWS, type OwnRows, type Rows } from '../advice.ts';

const webhookUrl = (adminPort: number): string => `http://GATEWAY:${adminPort}/-/changes`;
const makePlugin = (options: string): string =>
  `make the plugin of the site, put it next to payload.config.ts, and add it to the plugins there, as its first lines say:\n  ${programName()} plugin ${options} > calendar-gateway.ts`;
const OTHER_IDS =
  'The gateway leaves out records whose ids are neither positive integers up to 2147483647 nor texts of at most 200 characters without commas: give them other ids. If the ids are right, a plugin or a proxy changes lists: switch that off.';

const ROWS = {
  ...COMMON_ROWS,
  'time-zone': () =>
    'Name the time zone of the site in a copy of the mapping: "payload": { "timezone": "Europe/Vienna" }.',
  'site-name': () => 'Name the calendar in a copy of the mapping: "payload": { "name": "Events in Gullhaven" }.',
  'service-account': () =>
    'Make an account with an API key (auth: { useAPIKey: true } in the config of the collection, then "Enable API Key" at the account in the admin panel). Set CALENDAR_UPSTREAM_USER to the slug of its collection, such as users, and CALENDAR_UPSTREAM_PASSWORD to the key.',
  'account-rejected': () =>
    'Compare the key with that of the account in the admin panel ("Enable API Key"), and CALENDAR_UPSTREAM_USER with the slug of its collection; if that is not users, name it in a copy of the mapping: "payload": { "users": "SLUG" }.',
  capabilities: (missing: readonly string[]) =>
    `Let the access functions allow the service account ${missing.map(asOperation).join(', ')}: true, not a condition, and for every field of the mapping.`,
  'users-access': () =>
    'Let access.read of the collection of accounts return true for those who write for others. Or leave it: each caller can write in their own name.',
  'media-collection': () =>
    'Name the upload collection in a copy of the mapping: "payload": { "media": "SLUG" }. Or leave "image" out of the mapping.',
  'upload-refused': () => 'Let access.create of the upload collection allow it to this account.',
  webhooks: (pluginOptions: string, adminPort: number) =>
    `To see changes immediately, set CALENDAR_WEBHOOK_SECRET here and on the site, and ${makePlugin(`${pluginOptions} --webhook-url ${webhookUrl(adminPort)}`)}`,
  'collection-name': (_mapping: string, _needsPlugin: boolean) =>
    'Compare "collection" in the mapping with the slugs of the collections in payload.config.ts.',
  'collection-absent': (kind: string, _mapping: string) =>
    `Give the slug of the collection in the mapping. If the site has none, leave "${kind}" out of a copy of the mapping.`,
  'list-refused': () => 'Let access.read and access.update of the collection allow it to the service account.',
  'list-hidden': () => OTHER_IDS,
  'list-short': () => OTHER_IDS,
  'no-record': (kind: string) =>
    kind === 'event'
      ? 'Make an event in the admin panel. Until then check --write tries the fields on a draft, which it removes.'
      : `If the calendar is to have ${kind}s, make one in the admin panel. Until then check --write tries the fields on a draft.`,
  'series-missing': (_pluginOptions: string) =>
    'Give the collection a virtual field calendar_occurrences (docs/mapping.md, Series), and let access.read of the field allow it to everybody.',
  'closed-to-visitors': () =>
    'See SECURITY.md, "A site that refuses anonymous readers". Let access.read of the collection return { _status: { equals: \'published\' } } for everybody, or choose a service account that sees no more than the public may see.',
  'hidden-from-visitors': () =>
    'If the public should see them, let access.read of the collection show them to requests without a user.',
  'no-drafts': () => 'Give the collection drafts: versions: { drafts: true }.',
  'no-trash': () => 'Give the collection a trash: trash: true.',
  'data-dir': () =>
    'Set CALENDAR_DATA_DIR to a folder that stays: it keeps the number of each record. Back it up: without it, every record gets another id.',
  'no-redis': () => 'Run one gateway without CALENDAR_REDIS_URL, with a CALENDAR_DATA_DIR.',
  'field-absent': (collection: string, path: string) =>
    `Compare the name with the fields of ${collection} in payload.config.ts, and let access.read of the field allow it to the service account. A name that ends in Html is that of a lexicalHTMLField. If the site has no such field, leave ${path} out of a copy of the mapping.`,
  relation: (collection: string) => `Make it a field of the type relationship, with relationTo: '${collection}'.`,
  'fill-in': (nowhere: boolean) =>
    nowhere
      ? 'If the events have dates in the admin panel, they are in another field: compare the path with payload.config.ts. Otherwise fill them in.'
      : 'Fill it in in the admin panel, or leave these events as they are.',
  'create-refused': () =>
    'If the account may not create (account, above), allow it. If a field is required that the mapping does not have, make it optional, or give it a defaultValue.',
  'field-dropped': () =>
    'Payload drops values of fields that the collection does not have, or that the account may not write: compare the field with payload.config.ts, and its access.update and access.create.',
  'remove-draft': (title: string) => `Delete "${title}" in the admin panel.`,
  'webhook-signature': () =>
    "Give the plugin of the site this gateway's CALENDAR_WEBHOOK_SECRET as webhookSecret, and compare the clocks.",
  'webhook-kind': (pluginOptions: string) =>
    `The plugin of the site does not name all collections of the mapping. Leave out its option "collections" in payload.config.ts, and ${makePlugin(pluginOptions)}`,
  'webhook-untried': () =>
    'Have check write: a service account that may write, and a mapping that is not read-only. Or change an event in the admin panel while the gateway runs, and look at it through the gateway.',
  'webhook-missing': (adminPort: number) =>
    `Is calendarGateway of calendar-gateway.ts among the plugins of the site, with the webhookUrl ${webhookUrl(adminPort)} and this secret? Does the site reach that address (listen.adminHost is the loopback address by default)?`,
} as const satisfies Rows<OwnRows>;

export type PayloadAdviceId = keyof typeof ROWS;
/** Those that only this table has in these words. */
export const PAYLOAD_ADVICE_IDS = (Object.keys(ROWS) as PayloadAdviceId[]).filter((id) => !(id in COMMON_ROWS));

export const advise = adviseFrom(ROWS);

const OPERATIONS: Readonly<Record<string, string>> = {
  edit: 'create and update',
  readOthers: 'read',
  readPrivate: 'read',
  publish: 'create and update',
  deleteTerms: 'delete',
};

/** `events:readOthers` -> `access.read of events`. */
function asOperation(permission: string): string {
  const [collection = '', action = ''] = permission.split(':');
  return `access.${OPERATIONS[action] ?? action} of ${collection}`;
}
