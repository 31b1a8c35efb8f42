// What `check` does for WordPress only: the companion plugin, the schema, capabilities, and an event plugin's own API.

import { basicCredentialsOf } from '../../config.ts';
import type { Config } from '../../config-schema.ts';
import { ifRejected } from '../../errors.ts';
import type { Mapping } from '../../mapping/mapping.ts';
import { objectOrEmpty } from '../../model/json.ts';
import { PLURALS } from '../../model/records.ts';
import { openSite } from '../open-site.ts';
import {
  absence,
  type CheckContext,
  type CmsAdvice,
  type CmsChecks,
  type Finding,
  fail,
  type MappedField,
} from './checks.ts';

const ADVICE: CmsAdvice = {
  admin: 'wp-admin',
  account:
    'Make an application password for an editor (wp-admin > Users > Profile) and set ' +
    'CALENDAR_UPSTREAM_USER and CALENDAR_UPSTREAM_PASSWORD.',
  timeZone: 'Choose a city in wp-admin under Settings > General > Timezone.',
  collection: (pluginAdvice) =>
    'Compare "posts" and "terms" in the mapping with the collections of the site (rest_base), or switch it on in the ' +
    `plugin that brings it. If it is only not in the REST API: ${pluginAdvice}`,
  hiddenRecords: 'A plugin limits or filters lists: switch that off, or see "listParams" in docs/mapping.md.',
  createRefused:
    'Give the account a role that may create it: plugins with capabilities of their own often grant them to ' +
    'administrators only. Make optional what the mapping does not ' +
    "write. The type must support a title: add_post_type_support('TYPE', 'title') in PHP on the site.",
  lost:
    'The site does not show the key (fields, above), or the type does not store it. If it should store excerpts or ' +
    "descriptions: add_post_type_support('TYPE', 'excerpt') (or 'editor') in PHP on the site. If not, ignore this.",
};

export function openWordPressChecks(config: Config, mapping: Mapping): CmsChecks {
  const connection = openSite(config.upstream.url!, basicCredentialsOf(config), config.upstream, mapping);
  return {
    connection,
    advice: ADVICE,
    hasTimeZone: true,
    needsTimes: false,
    judgeField,
    async readByPlugin({ kind }, id) {
      if (mapping.file.wordpress?.hooks !== 'the-events-calendar') return undefined;
      const api = 'tribe/events/v1';
      const call = connection.call('GET', `${api}/${PLURALS[kind]}/${id}`);
      const response = await call.catch(ifRejected(() => undefined));
      return { api, record: response && objectOrEmpty(response.json) };
    },
  };
}

/**
 * Of a key of `meta` or `acf`, by the first row that holds. Of any other field undefined, as in the last row.
 *
 *   no record has it, and it is `hidden`          fail, with advice to remove it from the mapping
 *   no record has it, its keys are registered     fail: the site does not show it
 *   a key that is written is not registered       fail: WordPress drops the key
 *   records have it, its keys are registered      undefined: `judgeValues` decides
 *
 * Registered: in the schema of the site, or the site has none.
 */
async function judgeField(field: MappedField, { pluginAdvice }: CheckContext): Promise<Finding | undefined> {
  const { kindMapping, name, paths, definition, writableFields, isMissing } = field;
  const written = kindMapping.writtenPathsByProperty.get(definition.property) ?? [];
  const keys = new Set(written.flatMap((path) => /^(?:meta|acf)\.[^.]+/.exec(path)?.[0] ?? []));
  const unregistered = [...keys].filter((key) => writableFields?.includes(key) === false);
  const key = unregistered[0] ?? (isMissing ? paths[0] : undefined);
  if (key === undefined || !/^(meta|acf)\./.test(key)) return undefined;
  const advice = key.startsWith('acf.') ? ACF_IN_REST : registerKeys(pluginAdvice(), writableFields);
  if (isMissing && definition.property === 'hidden') {
    const remove = `If nothing is hidden on this site, remove the line ${kindMapping.kind}.${name} from the mapping.`;
    return fail(name, absence(field), `${advice}\n${remove}`);
  }
  if (unregistered.length === 0) return fail(name, absence(field), advice);
  const schema = `the schema of ${kindMapping.collection}`;
  return fail(name, `${unregistered.join(', ')} is not in ${schema}: WordPress drops what is written there`, advice);
}

const ACF_IN_REST =
  'Switch on "Show in REST API" in the field group of Advanced Custom Fields, and compare the field names.';

/** Names no field, so that `check` prints this advice once. The plugin would register a misspelt key, too. */
function registerKeys(pluginAdvice: string, fields: readonly string[] = []): string {
  const keys = fields.filter((name) => name.startsWith('meta.')).join(', ') || 'none';
  return (
    `Compare the name with the keys that the site shows: ${keys}. If it is none of them and right, the site has to ` +
    `show it: WordPress silently drops keys that are not registered for its REST API.\n${pluginAdvice}`
  );
}
