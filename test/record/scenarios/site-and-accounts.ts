// The description of the site, its accounts and its collections.

import { createWordPress } from '../../../src/cms/wordpress/wordpress.ts';
import { expectRefusal, type Scenario } from '../scenario.ts';

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

export const scenario: Scenario = {
  name: 'site-and-accounts',
  async run({ cms, as, wp, dispatcher, site }) {
    await cms.site();
    await cms.account({ credentials: as.admin });
    await cms.account({ credentials: as.subscriber });
    await expectRefusal(cms.account({ credentials: basic('admin', 'not the password') }));
    await expectRefusal(cms.account({ credentials: basic('nobody-of-that-name', 'x') }));
    await expectRefusal(cms.account({}));
    await cms.collectionInfo('events', { credentials: as.admin });
    await cms.collectionInfo('event_categories', { credentials: as.admin });
    await cms.collectionInfo('events');
    await expectRefusal(cms.collectionInfo('no-such-base', { credentials: as.admin }));
    await wp(['option', 'update', 'permalink_structure', '']);
    await wp(['option', 'update', 'timezone_string', '']);
    await wp(['option', 'update', 'gmt_offset', '-3.5']);
    const plain = createWordPress({
      url: site,
      observe: () => {},
      dispatcher,
      limits: { headersTimeoutMs: 60_000, deadlineMs: 60_000 },
    });
    await plain.site();
    await plain.list('events', { per_page: 1, _fields: 'id' });
    await wp(['option', 'update', 'permalink_structure', '/%postname%/']);
    await wp(['option', 'update', 'timezone_string', 'America/New_York']);
  },
};
