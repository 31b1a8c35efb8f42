// What `check` does for WordPress only: its schema, its capabilities, its plugins.

import { GENERAL_PERMISSIONS } from '../../../cms/wordpress/site-info.ts';
import { basicCredentialsOf, type Config } from '../../../config.ts';
import { basicAuth, openSite, orIfRefused, type WordPressConnection } from '../../open-site.ts';
import { type Check, type CmsChecks, ok, warn } from '../checks.ts';
import { advise } from './advice.ts';
import { judgeChange, judgeField, requiredFields } from './fields.ts';
import { LIST_CHECKS } from './lists.ts';

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
    accountChecks: [],
    listChecks: LIST_CHECKS,
    gatewayChecks: [wrongLogins(connection)],
    generalPermissions: GENERAL_PERMISSIONS,
    judgeField,
    judgeFields: requiredFields,
    // WordPress stores a draft with a title alone.
    draftOf: () => ({}),
    judgeChange,
  };
}

const wrongLogins = ({ call }: WordPressConnection): Check => ({
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
