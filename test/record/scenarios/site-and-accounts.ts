// The description of the site, its accounts and its collections.

import { plainCollection } from '../../../src/cms/port.ts';
import { createWordPress } from '../../../src/cms/wordpress/wordpress.ts';
import { expectRefusal, type Scenario } from '../scenario.ts';

const EVENTS = plainCollection('events', 'posts');
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
    await cms.collectionInfo(EVENTS, { credentials: as.admin });
    await cms.collectionInfo(plainCollection('event_categories', 'terms'), { credentials: as.admin });
    await cms.collectionInfo(EVENTS);
    await expectRefusal(cms.collectionInfo(plainCollection('no-such-base', 'posts'), { credentials: as.admin }));
    // Also removes the rules of the old structure, by which /wp-json/ would go on answering.
    await wp(['rewrite', 'structure', '']);
    await wp(['option', 'update', 'timezone_string', '']);
    await wp(['option', 'update', 'gmt_offset', '-3.5']);
    const plain = createWordPress({
      url: site,
      observe: () => {},
      dispatcher,
      limits: { headersTimeoutMs: 60_000, deadlineMs: 60_000 },
    });
    await plain.site();
    await plain.list(EVENTS, { view: 'public', limit: 1, detail: 'id' });
    await wp(['rewrite', 'structure', '/%postname%/']);
    await wp(['option', 'update', 'timezone_string', 'America/New_York']);
  },
};
