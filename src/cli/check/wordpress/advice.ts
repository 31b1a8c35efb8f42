// What `check` advises for WordPress: one row for each problem. test/cli/check/advice.test.ts follows each
// and shows that the finding is gone.

import { programName } from '../../program-name.ts';
import { loginAdvice } from '../../site-problems.ts';
import { adviseFrom, COMMON_ROWS, type OwnRows, type Rows } from '../advice.ts';
import { listKeys } from '../key-list.ts';

const PLUGIN_FOLDER = 'put it into wp-content/mu-plugins/ of the site';
const makePlugin = (options: string): string => `  ${programName()} plugin ${options} > calendar-gateway-companion.php`;
/** Names no field: the table prints the same advice only once. */
const installPlugin = (pluginOptions: string): string =>
  `Make the companion plugin of the mapping and ${PLUGIN_FOLDER}:\n${makePlugin(pluginOptions)}`;
/** `keys`: those that the site shows; `name`: the one that it lacks. The plugin would register a misspelt key, too. */
const registerKeys = (pluginOptions: string, keys: readonly string[] = [], name?: string): string => {
  const compare =
    keys.length > 0
      ? `Compare the name with the keys that the site shows: ${listKeys(keys, name)}. If it is none of them and right, the site has to show it: `
      : '';
  return `${compare}WordPress silently drops keys that are not registered for its REST API.\n${installPlugin(pluginOptions)}`;
};
const LIST_PARAMS = 'see "listParams" in docs/mapping.md';
const MAKE_ACCOUNT =
  'Make an application password for an editor (wp-admin > Users > Profile) and set CALENDAR_UPSTREAM_USER and CALENDAR_UPSTREAM_PASSWORD.';

const ROWS = {
  ...COMMON_ROWS,
  'time-zone': () => 'Choose a city in wp-admin under Settings > General > Timezone.',
  'service-account': () => MAKE_ACCOUNT,
  'account-rejected': loginAdvice,
  capabilities: (missing: readonly string[]) =>
    `Give the service account a role that has ${missing.join(', ')}: an editor for ordinary types; plugins with capabilities of their own often grant them to administrators only.`,
  'companion-plugin': installPlugin,
  'register-keys': registerKeys,
  'stored-forms': (field: string, pluginOptions: string) =>
    `Name the two texts that the site stores, such as "as": { "boolean": ["yes", "no"] }: ${field}. Then the key is one of texts. ${installPlugin(pluginOptions)}`,
  webhooks: (pluginOptions: string, adminPort: number) =>
    `To see changes immediately, set CALENDAR_WEBHOOK_SECRET, make the companion plugin with the same secret, and ${PLUGIN_FOLDER}:\n${makePlugin(`${pluginOptions} --webhook-url http://GATEWAY:${adminPort}/-/changes`)}`,
  'collection-name': (pluginOptions: string, needsPlugin: boolean) =>
    needsPlugin
      ? installPlugin(pluginOptions)
      : `Compare "posts" and "terms" in the mapping with the collections of the site (rest_base), or open the collections to the REST API.\n${installPlugin(pluginOptions)}`,
  'collection-absent': (kind: string, pluginOptions: string) =>
    `If the site should have it, switch it on in the plugin that brings it. If not, leave "${kind}" out of the mapping (of a copy, if it is a bundled one). If it is there and only not in the REST API:\n${installPlugin(pluginOptions)}`,
  'list-refused': () =>
    'Let the service account read this collection (account, above), or open it in the plugin that closes the REST API.',
  'list-hidden': () =>
    `Give the account the capability to edit the records of others (account, above). If it has that, a plugin limits or filters lists: ${LIST_PARAMS}.`,
  'list-short': () => `A plugin changes lists: ${LIST_PARAMS}, or switch that off in the plugin.`,
  'no-record': (kind: string) =>
    kind === 'event'
      ? 'Make an event in wp-admin. Until then check --write tries the fields on a draft, which it removes.'
      : `If the calendar is to have ${kind}s, make one in wp-admin. Until then check --write tries the fields on a draft.`,
  'closed-to-visitors': () =>
    'See SECURITY.md, "A site that refuses anonymous readers". Open the REST API to anonymous readers, or choose a service account that sees no more than the public may see.',
  'hidden-from-visitors': () =>
    'If the public should see them, find the plugin that hides them from the REST API, and show them there.',
  'past-events': () =>
    'If the site has past events: the companion plugin shows those of The Events Calendar and Event Organiser; for another plugin find the list parameter that shows them, and give it in a copy of the mapping: "wordpress": { "listParams": { ... } } of "event".',
  'series-missing': installPlugin,
  'hidden-flag': (field: string, pluginOptions: string, keys: readonly string[] = [], name?: string) =>
    `${registerKeys(pluginOptions, keys, name)}\nIf nothing is hidden on this site, remove the line ${field} from the mapping.`,
  'acf-in-rest': () =>
    'Switch on "Show in REST API" in the field group of Advanced Custom Fields, and compare the field names.',
  'fill-in': (nowhere: boolean) =>
    nowhere
      ? 'If the events have dates in wp-admin, the site stores them under another key: docs/mapping-tutorial.md, "1. Find the facts", says how to find it. Otherwise fill them in.'
      : 'Fill it in in wp-admin, or leave these events as they are.',
  'create-refused': () =>
    "If the account lacks a capability (account, above), give it. Otherwise the type must support a title: add_post_type_support('TYPE', 'title') in PHP on the site.",
  'remove-draft': (title: string) => `Delete "${title}" in wp-admin.`,
  'type-support': () =>
    "The type does not store it. If it should: add_post_type_support('TYPE', 'excerpt') (or 'editor') in PHP on the site. If not, ignore this: what clients send for it is not stored.",
  'required-field': () =>
    'Make it optional in its field group, or add a line for it to the mapping if a field of the API fits.',
  'webhook-signature': () =>
    "Make the companion plugin again with this gateway's CALENDAR_WEBHOOK_SECRET, and compare the clocks.",
  'webhook-kind': (pluginOptions: string) =>
    `The companion plugin of the site is of another mapping or version. ${installPlugin(pluginOptions)}`,
  'webhook-untried': () =>
    'Have check write: a service account that may write, and a mapping that is not read-only. Or change an event in wp-admin while the gateway runs, and look at it through the gateway.',
  'webhook-missing': (adminPort: number) =>
    `Is the companion plugin in wp-content/mu-plugins/, made with --webhook-url http://GATEWAY:${adminPort}/-/changes and this secret? Does the site reach that address (listen.adminHost is the loopback address by default)?`,
} as const satisfies Rows<OwnRows>;

export type AdviceId = keyof typeof ROWS;
export const ADVICE_IDS = Object.keys(ROWS) as AdviceId[];

export const advise = adviseFrom(ROWS);
