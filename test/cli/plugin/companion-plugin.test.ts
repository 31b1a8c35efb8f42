// The companion plugin: valid PHP that registers what its mapping uses, beside an event plugin and alone.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { companionPlugin } from '../../../src/cli/plugin/companion-plugin.ts';
import { ConfigError } from '../../../src/errors.ts';
import { compileMapping } from '../../../src/mapping/compile.ts';
import { loadMapping, mappingNames } from '../../../src/mapping/load.ts';
import { sourceWith } from '../../mapping/samples.ts';

const webhook = { webhookUrl: 'http://127.0.0.1:3001/-/changes', webhookSecret: "it's \\ a 'secret'" };
const hasPhp = spawnSync('php', ['-v']).status === 0;

/** Runs PHP code on standard input and gives what it printed. */
function php(args: string[], code: string): string {
  const { status, stdout, stderr } = spawnSync('php', args, { input: code, encoding: 'utf8' });
  expect(status, stdout + stderr).to.equal(0);
  return stdout;
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
  /** In the order of the calls: those of the plugin come first. */
  registered: Registered[];
  supports: string[];
  /** Options that were written. */
  stored: string[];
}

/** Loads the companion plugin into a stub of WordPress, after another plugin. `rows`: the first value of each meta key in the database. */
function load(code: string, plugin: string, rows: Record<string, string> = {}, copies = 1): Loaded {
  const result = "array('registered' => $registered, 'supports' => $supports, 'stored' => $stored)";
  return evaluate(code, plugin, result, { rows, copies }) as Loaded;
}

/** The constants of the companion plugin. */
function constants(code: string): Record<string, Record<string, Record<string, unknown>>> {
  const namespace = /^namespace (.+);$/m.exec(code)?.[1];
  const names = ['TYPES', 'TAXONOMIES', ...(code.includes('WEBHOOK_SECRET') ? ['WEBHOOK_SECRET'] : [])];
  const values = names.map((name) => `'${name}' => ${namespace}\\${name}`);
  return evaluate(code, '', `array(${values.join(', ')})`) as ReturnType<typeof constants>;
}

/** Loads the companion plugin likewise, and returns the value of a PHP expression. */
function evaluate(
  code: string,
  plugin: string,
  expression: string,
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
echo json_encode(${expression});`,
      ),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

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
      expect(code).to.include(`'${name}' =>`);
    expect(code.startsWith('<?php\n')).to.equal(true);
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

  it('only opens the types of an event plugin', () => {
    const code = companionPlugin(loadMapping('wp-event-manager'));
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

    const folder = join(import.meta.dirname, '../../../src/cli/plugin');
    for (const name of readdirSync(folder).filter((file) => file.endsWith('.php')))
      it(`has valid parts: ${name}`, () => {
        php(['-l', join(folder, name)], '');
      });

    for (const name of mappingNames())
      it(`is valid: ${name}`, () => {
        php(['-l'], companionPlugin(loadMapping(name), webhook));
      });

    it('has the types, taxonomies and meta keys of the mapping', () => {
      const { TYPES, TAXONOMIES, WEBHOOK_SECRET } = constants(companionPlugin(loadMapping('wordpress-meta'), webhook));
      expect(WEBHOOK_SECRET).to.equal(webhook.webhookSecret);
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

    describe('beside an event plugin', () => {
      const register = (key: string, more = '') =>
        `register_meta('post', '${key}', array('type' => 'number', 'single' => false${more}));`;
      const code = companionPlugin(loadMapping('tribe-events-native'), webhook);
      const of = ({ registered }: Loaded, key: string) => registered.filter((each) => each.key === key);

      it('registers no key that is registered already, with a subtype or without one, at init or only for REST', () => {
        const result = load(
          code,
          `add_action('init', function () { ${register('_EventVenueID')} }, 15);
           add_action('rest_api_init', function () { ${register('_EventOrganizerID')} });
           add_action('init', function () { ${register('_EventCost', ", 'object_subtype' => 'tribe_events'")} }, 15);
           add_action('init', function () { ${register('_VenueCity')} }, PHP_INT_MAX);`,
        );
        for (const key of ['_EventVenueID', '_EventOrganizerID', '_EventCost', '_VenueCity'])
          expect(of(result, key), key).to.have.length(1);
        expect(of(result, '_EventHideFromUpcoming')).to.have.length(1);
      });

      it('gives an unregistered key the shape in which the plugin stores it, and no default', () => {
        const result = load(code, '');
        for (const key of ['_EventVenueID', '_EventOrganizerID'])
          expect(of(result, key)).to.deep.equal([
            { key, subtype: 'tribe_events', type: 'integer', single: false, default: false },
          ]);
        expect(result.registered.filter((each) => each.default)).to.deep.equal([]);
        expect(result.supports).to.include('tribe_events custom-fields');
      });

      it('never makes one row of a list if the plugin has a row for each value', () => {
        const own = compileMapping(sourceWith({ venue: 'meta.places', organizer: 'meta.people' }), 'sample');
        const result = load(companionPlugin(own), '', { places: '7', people: 'a:1:{i:0;i:8;}' });
        expect(of(result, 'places')[0]).to.include({ type: 'integer', single: false });
        expect(of(result, 'people')[0]).to.include({ type: 'array', single: true });
        expect(of(load(companionPlugin(own), ''), 'places')[0]).to.include({ type: 'array', single: true });
      });

      it('works if a second copy is in the folder', () => {
        expect(load(code, '', {}, 2)).to.deep.equal(load(code, ''));
      });

      it('writes no option', () => {
        expect(load(code, '').stored).to.deep.equal([]);
      });

      const lists: Record<string, string[]> = {
        'event-organiser': ['_eventorganiser_event_schedule object'],
        'tribe-events-native': ['_EventVenueID integer, a row each', '_EventOrganizerID integer, a row each'],
        'wordpress-meta': ['venue_ids array', 'organizer_ids array'],
        'wp-event-manager': ['_event_organizer_ids array'],
      };
      for (const name of mappingNames())
        it(`stores one value in one row, except for lists of the plugin itself: ${name}`, () => {
          const result = load(companionPlugin(loadMapping(name)), '').registered;
          expect(
            result
              .filter(({ type, single }) => type === 'array' || type === 'object' || !single)
              .map(({ key, type, single }) => `${key} ${type}${single ? '' : ', a row each'}`),
          ).to.deep.equal(lists[name] ?? []);
        });
    });

    describe('for types whose REST base is not their name', () => {
      const code = companionPlugin(compileMapping(sourceWith({}), 'sample'), webhook);
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
          return CalendarGateway\\SiteSample\\changed_records();
        }`;

      it('sends webhooks for changes of the mapping’s collections only', () => {
        expect(evaluate(code, plugin, 'act()')).to.deep.equal([
          { collection: 'events', id: 5 },
          { collection: 'event_categories', id: 7 },
        ]);
      });
    });

    describe('the parameter for occurrences', () => {
      const code = companionPlugin(loadMapping('event-organiser'));
      /** The error of a request and the fields that the plugin adds to the records of its response. */
      const respond = (value: string, route: string) =>
        evaluate(
          code,
          `class WP_Error { public $code; public $data; function __construct($code, $message, $data) { $this->code = $code; $this->data = $data; } }
           function current_datetime() { return new DateTimeImmutable('2027-01-01'); }
           $fields = array();
           function register_rest_field($type, $name) { global $fields; $fields[] = $name; }
           class Sent { public $route; function get_route() { return $this->route; } }
           $_GET['calendar_occurrences'] = ${value};
           $request = new Sent();
           $request->route = '${route}';`,
          `array('error' => apply_filters('rest_pre_dispatch', null, null, $request), 'fields' => $fields)`,
        ) as { error: { code: string; data: { status: number; params: object } } | null; fields: string[] };

      for (const value of ["'0,0'", "'180,366'", "'3660,3660'"])
        it(`adds them: ${value}`, () => {
          expect(respond(value, '/wp/v2/event')).to.deep.equal({ error: null, fields: ['calendar_occurrences'] });
        });

      for (const value of ["'9999,9999'", "'3661,0'", "'0,3661'", "'1'", "''", "'-1,5'", "'1,2,3'", "array('1,2')"])
        it(`is 400 without any, as a parameter of WordPress is out of its range: ${value}`, () => {
          for (const route of ['/wp/v2/event', '/wp/v2/event/12']) {
            const { error, fields } = respond(value, route);
            expect([error?.code, error?.data.status, Object.keys(error?.data.params ?? {})]).to.deep.equal([
              'rest_invalid_param',
              400,
              ['calendar_occurrences'],
            ]);
            expect(fields).to.deep.equal([]);
          }
        });

      it('is none of other routes, which are not changed', () => {
        for (const route of ['/wp/v2/event-venue', '/wp/v2/posts', '/other/v1/event'])
          expect(respond("'9999,9999'", route)).to.deep.equal({ error: null, fields: [] });
      });
    });

    describe('the records of a rejected create', () => {
      const code = companionPlugin(compileMapping(sourceWith({}), 'sample'));
      const ID = '0123456789abcdef'.repeat(2);
      const data = { status: 400, calendar_created: [{ collection: 'events', id: 1 }], calendar_create: ID };
      const errorData = (server: string, mayEdit = true) =>
        evaluate(
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

      it('are in the error with the id of the call, even if another plugin adds such data', () => {
        const own = { calendar_created: [{ collection: 'events', id: 5 }], calendar_create: ID };
        expect(errorData(header)).to.deep.equal({ status: 400, ...own });
      });

      it('are not in the error if the user may not edit them', () => {
        expect(errorData(header, false)).to.deep.equal({ status: 400 });
      });

      it('are in errors for the gateway only: responses to other clients do not change', () => {
        expect(errorData('')).to.deep.equal(data);
      });
    });

    describe('the record of a creation key', () => {
      const code = companionPlugin(compileMapping(sourceWith({}), 'sample'));
      const findCreated = (author: number, mayEdit: boolean, types = "array(5 => 'events', 9 => 'events')") =>
        evaluate(
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

      it('comes before its copies', () => {
        expect(findCreated(4, true)).to.deep.equal({ created: both });
      });

      it('is shown to its author even if an editor has published it', () => {
        expect(findCreated(3, false)).to.deep.equal({ created: both });
      });

      it('is an error, not missing, if the user may not see it', () => {
        expect(findCreated(4, false)).to.deep.equal({ code: 'calendar_created_hidden' });
      });

      it('is missing if it was deleted, or if its type is not in the mapping', () => {
        expect(findCreated(4, true, "array(9 => 'page')")).to.deep.equal({ created: [] });
      });
    });

    it('quotes every name', () => {
      const source = sourceWith(
        {},
        { wordpress: { posts: { events: { type: 'gig', singular: "G'; die(1); //\\", plural: '$x {$y}\\' } } } },
      );
      const { TYPES } = constants(companionPlugin(compileMapping(source, 'sample')));
      expect(TYPES?.gig).to.include({ singular: "G'; die(1); //\\", plural: '$x {$y}\\' });
    });
  });
});
