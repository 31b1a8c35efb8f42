// Shows that the PHP file of `snippet` opens what its mapping uses, is PHP, and lets no name break out of its quotes.

import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { snippet } from '../../src/cli/snippet.ts';
import { TYPES_PHP } from '../../src/cli/snippet-types.ts';
import { ConfigError } from '../../src/errors.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { loadMapping, mappingNames } from '../../src/mapping/load.ts';
import { sourceWith } from '../mapping/samples.ts';

const notices = { noticeUrl: 'http://127.0.0.1:3001/-/changes', noticeSecret: "it's \\ a 'secret'" };
const hasPhp = spawnSync('php', ['-v']).status === 0;

/** Runs PHP code on standard input and gives what it printed. */
function php(args: string[], code: string): string {
  const { status, stdout, stderr } = spawnSync('php', args, { input: code, encoding: 'utf8' });
  expect(status, stdout + stderr).to.equal(0);
  return stdout;
}

/** The constants of a snippet as PHP understands them. */
function constants(code: string): Record<string, Record<string, Record<string, unknown>>> {
  const head = `${code.slice(0, code.indexOf(TYPES_PHP))}}\necho \\json_encode(['TYPES' => TYPES, 'TAXONOMIES' => TAXONOMIES, 'SECRET' => \\defined(__NAMESPACE__ . '\\NOTICE_SECRET') ? NOTICE_SECRET : null]);`;
  return JSON.parse(
    php(
      ['-d', 'display_errors=stderr'],
      head
        .replace('<?php', "<?php namespace { const ABSPATH = '/'; }")
        .replace(/^namespace ([\w\\]+);$/m, 'namespace $1 {')
        .concat('\n}'),
    ),
  );
}

describe('snippet', () => {
  it('names everything that the mapping uses', () => {
    const code = snippet(loadMapping('wordpress-meta'));
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
      expect(code).to.include(`'${name}' =>`);
    expect(code.startsWith('<?php\n')).to.equal(true);
    expect(code).to.not.include('NOTICE');
  });

  it('is the same every time', () => {
    expect(snippet(loadMapping('wordpress-meta'), notices)).to.equal(snippet(loadMapping('wordpress-meta'), notices));
  });

  it('wants address and secret together', () => {
    expect(() => snippet(loadMapping('wordpress-meta'), { noticeUrl: 'http://x' })).to.throw(ConfigError);
    expect(() => snippet(loadMapping('wordpress-meta'), { noticeSecret: 'x' })).to.throw(ConfigError);
  });

  it('only opens the types of a plugin', () => {
    const code = snippet(loadMapping('wp-event-manager'));
    expect(code)
      .to.include("'event_listing' =>")
      .and.to.include("'existing' => true")
      .and.to.not.include("'existing' => false");
    expect(code).to.not.include('show_form');
  });

  describe('in PHP', () => {
    before(function () {
      if (!hasPhp) this.skip();
    });

    for (const name of mappingNames())
      it(`is valid: ${name}`, () => {
        php(['-l'], snippet(loadMapping(name), notices));
      });

    it('says what the mapping says', () => {
      const { TYPES, TAXONOMIES, SECRET } = constants(snippet(loadMapping('wordpress-meta'), notices));
      expect(SECRET).to.equal(notices.noticeSecret);
      expect(TYPES?.calendar_event).to.include({ base: 'events', rewrite: 'event', existing: false });
      expect(TYPES?.calendar_event?.meta).to.deep.include({
        all_day: { type: 'boolean', default: false, hint: '' },
        cost: { type: 'string', default: '', hint: '' },
        venue_ids: { type: 'array', default: [], hint: 'numbers, with commas between' },
      });
      expect(TYPES?.calendar_venue?.meta).to.deep.include({ show_map: { type: 'boolean', default: true, hint: '' } });
      expect(TAXONOMIES?.event_category).to.deep.include({
        types: ['calendar_event'],
        hierarchical: true,
        rewrite: 'events/category',
      });
      expect(TAXONOMIES?.post_tag).to.deep.include({ base: 'tags', existing: true, types: ['calendar_event'] });
    });

    it('lets no name break out of its quotes', () => {
      const source = sourceWith(
        {},
        { wordpress: { posts: { events: { type: 'gig', singular: "G'; die(1); //\\", plural: '$x {$y}\\' } } } },
      );
      const { TYPES } = constants(snippet(compileMapping(source, 'sample')));
      expect(TYPES?.gig).to.include({ singular: "G'; die(1); //\\", plural: '$x {$y}\\' });
    });
  });
});
