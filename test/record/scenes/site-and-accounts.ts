// What the site says about itself, its users and its collections.

import { createWordPress } from '../../../src/upstream/wordpress/wordpress.ts';
import { refused, type Scene } from '../scene.ts';

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

export const scene: Scene = {
  name: 'site-and-accounts',
  async run({ upstream, as, wp, dispatcher, site }) {
    await upstream.site();
    await upstream.account({ credentials: as.admin });
    await upstream.account({ credentials: as.subscriber });
    await refused(upstream.account({ credentials: basic('admin', 'not the password') }));
    await refused(upstream.account({ credentials: basic('nobody-of-that-name', 'x') }));
    await refused(upstream.account({}));
    await upstream.facts('events', { credentials: as.admin });
    await upstream.facts('event_categories', { credentials: as.admin });
    await upstream.facts('events');
    await refused(upstream.facts('no-such-base', { credentials: as.admin }));
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
