// The code of the companion plugin: what it names, and which options it rejects. test/php/ runs it.

import { expect } from 'chai';
import { companionPlugin } from '../../../src/cli/plugin/companion-plugin.ts';
import { ConfigError } from '../../../src/errors.ts';
import { loadMapping } from '../../../src/mapping/load.ts';
import { metaKeys } from '../../../src/mapping/meta-keys.ts';
import { mappingWith, site } from '../../mapping/samples.ts';

const webhook = { webhookUrl: 'http://127.0.0.1:3001/-/changes', webhookSecret: 'shared between both' };

describe('the companion plugin', () => {
  it('names everything that the mapping uses', () => {
    const code = companionPlugin(loadMapping('wordpress-meta'));
    for (const name of [
      'calendar_event',
      'calendar_venue',
      'calendar_organizer',
      'event_category',
      'post_tag',
      'venue_ids',
      'organizer_ids',
      'hide_from_listings',
      'stateprovince',
    ])
      expect(code).to.include(`"${name}"`);
    expect(code.startsWith('<?php\n')).to.equal(true);
    // WordPress reads the name from a line of its own.
    expect(code).to.match(/^ \* Plugin Name: Calendar gateway: wordpress-meta$/m);
    expect(code).to.not.include("WEBHOOK_SECRET', ");
  });

  it('is the same every time', () => {
    expect(companionPlugin(loadMapping('wordpress-meta'), webhook)).to.equal(
      companionPlugin(loadMapping('wordpress-meta'), webhook),
    );
  });

  it('rejects a webhook URL without a secret, and the reverse', () => {
    expect(() => companionPlugin(loadMapping('wordpress-meta'), { webhookUrl: 'http://x' })).to.throw(ConfigError);
    expect(() => companionPlugin(loadMapping('wordpress-meta'), { webhookSecret: 'x' })).to.throw(ConfigError);
  });

  for (const forms of [
    [true, false],
    [false, true],
    [1, 0],
    [0, 1],
    ['1', ''],
    ['', '1'],
    ['yes', 'no'],
  ])
    it(`registers defaults that read as the empty value of a boolean: ${JSON.stringify(forms)}`, () => {
      const flag = { at: 'meta.flag', as: { boolean: forms } };
      const venues = { posts: 'venues', fields: { show_map: flag } };
      const { file: source, kinds } = mappingWith({ hide_from_listings: flag }, { venue: venues });
      const [event, venue] = (['event', 'venue'] as const).map((kind) => {
        const meta = metaKeys(kind, source[kind]!, source.event).find(({ key }) => key === 'flag');
        expect(typeof meta?.default).to.equal(typeof forms[0]);
        return { id: 1, meta: { flag: meta?.default } };
      });
      expect(kinds.event.read(event!, site).hidden).to.equal(false);
      expect(kinds.venue!.read(venue!, site).showMap).to.equal(true);
    });

  it('registers false for a boolean that is stored as the absence of a row', () => {
    const flag = { at: 'meta.flag', as: { boolean: [true, null] } };
    const { file: source } = mappingWith({}, { venue: { posts: 'venues', fields: { show_map: flag } } });
    expect(metaKeys('venue', source.venue!, source.event).find(({ key }) => key === 'flag')?.default).to.equal(false);
  });

  it('only opens the types of an event plugin', () => {
    const code = companionPlugin(loadMapping('wp-event-manager'));
    expect(code)
      .to.include('"event_listing"')
      .and.to.include('"existing": true')
      .and.to.not.include('"existing": false');
    expect(code).to.not.include('show_form');
  });
});
