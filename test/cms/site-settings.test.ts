// What the adapter takes from the settings that the companion plugin publishes in the site's description.

import { expect } from 'chai';
import { createSiteInfo } from '../../src/cms/wordpress/wordpress.ts';

const readSettings = async (published: unknown) => {
  const json = { name: 'Site', url: 'https://site.example', timezone_string: 'UTC', calendar_gateway: published };
  const { settings } = await createSiteInfo(async () => ({ json, headers: {}, status: 200 }) as never).site();
  return settings;
};

describe("an event plugin's settings in the site's description", () => {
  it('are read', async () => {
    const published = {
      ...{ currency_symbol: '€', currency_code: 'EUR', currency_position: 'postfix' },
      ...{ day_starts: '05:00', timezone_mode: 'site' },
    };
    expect(await readSettings(published)).to.deep.equal({
      ...{ currencySymbol: '€', currencyCode: 'EUR', currencyPosition: 'postfix' },
      ...{ dayStarts: '05:00', timezoneMode: 'site' },
    });
  });

  it('may be absent, or some of them', async () => {
    for (const published of [undefined, null, [], {}, 'EUR']) expect(await readSettings(published)).to.equal(undefined);
    expect(await readSettings({ currency_symbol: '' })).to.deep.equal({ currencySymbol: '' });
  });

  it('are ignored if they are malformed, too long or unknown', async () => {
    const malformed = {
      ...{ currency_symbol: 'x'.repeat(21), currency_code: 'euro', currency_position: 'above', day_starts: '24:00' },
      ...{ timezone_mode: ['site'], license: 'secret' },
    };
    expect(await readSettings(malformed)).to.equal(undefined);
  });
});
