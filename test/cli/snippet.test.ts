// Shows that the PHP file of `snippet` opens what its mapping uses, is PHP, and lets no name break out of its quotes.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

interface Registered {
  key: string;
  subtype: string;
  type: string;
  /** One row holds the whole value. */
  single: boolean;
  /** An unset key reads as something else than before, for the plugin's own code too. */
  default: boolean;
}

interface Loaded {
  /** In the order of the calls; the plugin's first. */
  registered: Registered[];
  supports: string[];
  /** Options that were written. */
  stored: string[];
}

/**
 * Loads the file, in as many copies, into a few functions of WordPress, after a plugin that runs `plugin`; `rows` are first values of keys in the database.
 */
function loaded(code: string, plugin: string, rows: Record<string, string> = {}, copies = 1): Loaded {
  const told = "array('registered' => $registered, 'supports' => $supports, 'stored' => $stored)";
  return afterLoading(code, plugin, told, { rows, copies }) as Loaded;
}

/** The same, and gives what `told` is in PHP once the file has registered everything. */
function afterLoading(
  code: string,
  plugin: string,
  told: string,
  { rows = {}, copies = 1 }: { rows?: Record<string, string>; copies?: number } = {},
): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'calendar-companion-'));
  try {
    const files = Array.from({ length: copies }, (_, at) => join(folder, `${at}.php`));
    for (const file of files) writeFileSync(file, code);
    const stub = readFileSync(join(import.meta.dirname, 'wordpress-stub.php'), 'utf8');
    const list = Object.entries(rows).map(([key, value]) => `'${key}' => '${value}'`);
    return JSON.parse(
      php(
        ['-d', 'display_errors=stderr'],
        `${stub}
const ROWS = array(${list.join(', ')});
${plugin}
${files.map((file) => `require '${file}';`).join('\n')}
apply_filters('init');
apply_filters('rest_api_init');
echo json_encode(${told});`,
      ),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
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

    describe('beside a plugin', () => {
      const register = (key: string, more = '') =>
        `register_meta('post', '${key}', array('type' => 'number', 'single' => false${more}));`;
      const code = snippet(loadMapping('tribe-events-native'), notices);
      const of = ({ registered }: Loaded, key: string) => registered.filter((one) => one.key === key);

      it('registers no key that is registered already, with a subtype or without one, at init or only for REST', () => {
        const found = loaded(
          code,
          `add_action('init', function () { ${register('_EventVenueID')} }, 15);
           add_action('rest_api_init', function () { ${register('_EventOrganizerID')} });
           add_action('init', function () { ${register('_EventCost', ", 'object_subtype' => 'tribe_events'")} }, 15);
           add_action('init', function () { ${register('_VenueCity')} }, PHP_INT_MAX);`,
        );
        for (const key of ['_EventVenueID', '_EventOrganizerID', '_EventCost', '_VenueCity'])
          expect(of(found, key), key).to.have.length(1);
        expect(of(found, '_EventHideFromUpcoming')).to.have.length(1);
      });

      it('gives an unregistered key the shape in which the plugin stores it, and no default', () => {
        const found = loaded(code, '');
        for (const key of ['_EventVenueID', '_EventOrganizerID'])
          expect(of(found, key)).to.deep.equal([
            { key, subtype: 'tribe_events', type: 'integer', single: false, default: false },
          ]);
        expect(found.registered.filter((one) => one.default)).to.deep.equal([]);
        expect(found.supports).to.include('tribe_events custom-fields');
      });

      it('never makes one row of a list where the plugin has plain rows', () => {
        const own = compileMapping(sourceWith({ venue: 'meta.places', organizer: 'meta.people' }), 'sample');
        const found = loaded(snippet(own), '', { places: '7', people: 'a:1:{i:0;i:8;}' });
        expect(of(found, 'places')[0]).to.include({ type: 'integer', single: false });
        expect(of(found, 'people')[0]).to.include({ type: 'array', single: true });
        expect(of(loaded(snippet(own), ''), 'places')[0]).to.include({ type: 'array', single: true });
      });

      it('stops nothing when a second copy lies in the folder', () => {
        expect(loaded(code, '', {}, 2)).to.deep.equal(loaded(code, ''));
      });

      it('leaves no option behind', () => {
        expect(loaded(code, '').stored).to.deep.equal([]);
      });

      const lists: Record<string, string[]> = {
        'event-organiser': ['_eventorganiser_event_schedule object'],
        'tribe-events-native': ['_EventVenueID integer, a row each', '_EventOrganizerID integer, a row each'],
        'wordpress-meta': ['venue_ids array', 'organizer_ids array'],
        'wp-event-manager': ['_event_organizer_ids array'],
      };
      for (const name of mappingNames())
        it(`stores one value in one row, but for the lists of the plugin itself: ${name}`, () => {
          const found = loaded(snippet(loadMapping(name)), '').registered;
          expect(
            found
              .filter(({ type, single }) => type === 'array' || type === 'object' || !single)
              .map(({ key, type, single }) => `${key} ${type}${single ? '' : ', a row each'}`),
          ).to.deep.equal(lists[name] ?? []);
        });
    });

    describe('of types whose REST base is not their name, which the mapping does not tell', () => {
      const code = snippet(compileMapping(sourceWith({}), 'sample'), notices);
      const plugin = `
        function get_post_type($id) { return array(5 => 'gig', 6 => 'page')[$id]; }
        function get_post_type_object($type) {
          return (object) array('name' => $type, 'show_in_rest' => true, 'rest_base' => $type === 'gig' ? 'events' : '');
        }
        function get_taxonomy($name) {
          return (object) array('name' => $name, 'show_in_rest' => true, 'rest_base' => $name === 'genre' ? 'event_categories' : '');
        }
        function get_post_status($id) { return 'publish'; }
        function act() {
          apply_filters('wp_after_insert_post', 5);
          apply_filters('wp_after_insert_post', 6);
          apply_filters('edited_term', 7, 0, 'genre');
          apply_filters('edited_term', 8, 0, 'nav_menu');
          return CalendarGateway\\SiteSample\\note();
        }`;

      it('changes still send notices, and those of other types do not', () => {
        expect(afterLoading(code, plugin, 'act()')).to.deep.equal([
          { collection: 'events', id: 5 },
          { collection: 'event_categories', id: 7 },
        ]);
      });
    });

    describe('what a refused create inserted', () => {
      const code = snippet(compileMapping(sourceWith({}), 'sample'));
      const ID = '0123456789abcdef'.repeat(2);
      const data = { status: 400, calendar_created: [{ collection: 'events', id: 1 }], calendar_create: ID };
      const answered = (server: string, mayEdit = true) =>
        afterLoading(
          code,
          `const REST_REQUEST = true;
           class WP_REST_Response {
             public $data;
             public function get_status() { return 400; }
             public function get_data() { return $this->data; }
             public function set_data($data) { $this->data = $data; }
           }
           ${server}
           function is_user_logged_in() { return true; }
           function current_user_can() { return ${mayEdit}; }
           function get_post_status() { return 'draft'; }
           function get_post_type_object() {}
           function act() {
             $request = new class { function get_method() { return 'POST'; } function get_route() { return '/wp/v2/events'; } };
             apply_filters('wp_insert_post', 5, (object) array('post_type' => 'events'), false);
             $response = new WP_REST_Response();
             $response->data = json_decode('${JSON.stringify({ code: 'my_rule', data })}', true);
             return apply_filters('rest_post_dispatch', $response, null, $request)->data['data'];
           }`,
          'act()',
        );
      const header = `$_SERVER['HTTP_X_CALENDAR_CREATE'] = '${ID}';`;

      it('is in the error with the id of the call, whatever another plugin says', () => {
        const own = { calendar_created: [{ collection: 'events', id: 5 }], calendar_create: ID };
        expect(answered(header)).to.deep.equal({ status: 400, ...own });
      });

      it('is in no error when the user may not edit it', () => {
        expect(answered(header, false)).to.deep.equal({ status: 400 });
      });

      it('is in errors for the gateway only: answers to other clients stay as they are', () => {
        expect(answered('')).to.deep.equal(data);
      });
    });

    describe('a record with the key of a create', () => {
      const code = snippet(compileMapping(sourceWith({}), 'sample'));
      const found = (author: number, mayEdit: boolean, types = "array(5 => 'events', 9 => 'events')") =>
        afterLoading(
          code,
          `class WP_Error { public $code; function __construct($code) { $this->code = $code; } }
           function get_current_user_id() { return 3; }
           function current_user_can() { return ${mayEdit}; }
           function get_post_field() { return '${author}'; }
           function get_post_type($id) { return ${types}[$id] ?? false; }
           function get_post_type_object($type) { return (object) array('name' => $type, 'show_in_rest' => false); }
           $wpdb->marked = array('postmeta' => array('5', '9'));`,
          `$routes['calendar-gateway/v1/created'](array('key' => 'k'))`,
        );
      const both = [5, 9].map((id) => ({ collection: 'events', id }));

      it('is found, the first before its copies', () => {
        expect(found(4, true)).to.deep.equal({ created: both });
      });

      it("is its author's also when an editor has published it since", () => {
        expect(found(3, false)).to.deep.equal({ created: both });
      });

      it('is never said to be missing when the user may not see it', () => {
        expect(found(4, false)).to.deep.equal({ code: 'calendar_created_hidden' });
      });

      it('is none when it was deleted, or when it is of a type that is not of the calendar', () => {
        expect(found(4, true, "array(9 => 'page')")).to.deep.equal({ created: [] });
      });
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
