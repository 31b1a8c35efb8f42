// The companion plugin in PHP: its syntax, and what it registers beside other plugins.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { companionPlugin } from '../../src/cli/plugin/companion-plugin.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { loadMapping, mappingNames } from '../../src/mapping/load.ts';
import { sourceWith } from '../mapping/samples.ts';
import { constants, evaluate, type Loaded, load, php, webhook } from './evaluate-php.ts';

const wordPressMappings = mappingNames().filter((name) => loadMapping(name).cms === 'wordpress');

describe('the companion plugin in PHP', () => {
  const folder = join(import.meta.dirname, '../../src/cli/plugin');
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.php')))
    it(`has valid parts: ${name}`, () => {
      php(['-l', join(folder, name)], '');
    });

  for (const name of wordPressMappings)
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

  describe('with a number', () => {
    const asNumber = { cost: { at: 'meta.price', as: 'number', clearWith: null } };

    it('shows no value, instead of 0, for a key that is not set', () => {
      const code = companionPlugin(compileMapping(sourceWith(asNumber), 'sample'));
      // The default of the key, a blank text, and texts of the database.
      const values = "array_map(static fn($one) => $prepare['price']($one, null, array()), array(0, '', '0', '12.5'))";
      expect(evaluate(code, '', values)).to.deep.equal([null, null, 0, 12.5]);
    });

    it('leaves a blank text alone that an editor received as no value and sends back, which WordPress would refuse', () => {
      const own = sourceWith(asNumber, { wordpress: { posts: { events: { type: 'gig' } } } });
      const site = `
        class WP_REST_Post_Meta_Fields {
          public function __construct($type) {}
          public function get_value() { return array('start' => '', 'price' => null); }
        }
        function save($meta) {
          $request = new ArrayObject(array('id' => 1, 'meta' => $meta));
          apply_filters('rest_pre_insert_gig', new stdClass(), $request);
          return (object) $request['meta'];
        }`;
      const saves = "array(save(array('start' => '', 'price' => null)), save(array('price' => 0)))";
      expect(evaluate(companionPlugin(compileMapping(own, 'sample')), site, saves)).to.deep.equal([
        { start: '' },
        { price: 0 },
      ]);
    });

    it('keeps a key unset that is left blank on the edit screen', () => {
      const own = sourceWith(asNumber, { wordpress: { posts: { events: { type: 'gig' } } } });
      const screen = `
        $rows = array();
        $_POST = array('calendar_gateway_nonce' => 'x', 'calendar_gateway' => array('price' => ''));
        function wp_verify_nonce() { return true; }
        function current_user_can() { return true; }
        function wp_nonce_field() {}
        function esc_attr($text) { return $text; }
        function esc_html($text) { return $text; }
        function metadata_exists($object, $id, $key) { global $rows; return isset($rows[$key]); }
        function get_post_meta($id, $key) { global $rows; return $rows[$key] ?? ($key === 'price' ? 0 : ''); }
        function update_post_meta($id, $key, $value) { global $rows; $rows[$key] = (string) $value; }
        function delete_post_meta($id, $key) { global $rows; unset($rows[$key]); }
        function input() {
          ob_start();
          CalendarGateway\\SiteSample\\show_form((object) array('ID' => 1, 'post_type' => 'gig'));
          preg_match("/name='calendar_gateway\\\\[price]' value='(.*?)'/", ob_get_clean(), $match);
          return $match[1];
        }
        function save($price) {
          global $rows;
          $_POST['calendar_gateway']['price'] = $price;
          apply_filters('save_post', 1, (object) array('post_type' => 'gig'));
          return array($rows['price'] ?? null, input());
        }`;
      const code = companionPlugin(compileMapping(own, 'sample'));
      expect(evaluate(code, screen, "array(input(), save(''), save('0'), save('12.5'), save(''))")).to.deep.equal([
        '',
        [null, ''],
        ['0', '0'],
        ['12.5', '12.5'],
        [null, ''],
      ]);
    });
  });

  it('leaves an object out of the edit screen, which shows a line of text for each key', () => {
    const source = sourceWith(
      {},
      {
        venue: { posts: 'venues', fields: { city: 'meta.address.city', phone: 'meta.phone' } },
        wordpress: { posts: { venues: { type: 'hall' } } },
      },
    );
    const screen = `
      $rows = array('address' => array('city' => 'Ely', 'zip' => 'CB7'), 'phone' => '');
      $_POST = array('calendar_gateway_nonce' => 'x', 'calendar_gateway' => array('phone' => '5', 'address' => 'Ely, CB7'));
      function wp_verify_nonce() { return true; }
      function current_user_can() { return true; }
      function wp_nonce_field() {}
      function esc_attr($text) { return $text; }
      function esc_html($text) { return $text; }
      function get_post_meta($id, $key) { global $rows; return $rows[$key] ?? ($key === 'address' ? (object) array() : ''); }
      function update_post_meta($id, $key, $value) { global $rows; $rows[$key] = $value; }
      function labels() {
        ob_start();
        CalendarGateway\\SiteSample\\show_form((object) array('ID' => 1, 'post_type' => 'hall'));
        preg_match_all('/<label.*?>(.*?)</', ob_get_clean(), $matches);
        return $matches[1];
      }
      function save() {
        global $rows;
        apply_filters('save_post', 1, (object) array('post_type' => 'hall'));
        return $rows;
      }
      function clear() { global $rows; $rows = array(); return labels(); }`;
    const code = companionPlugin(compileMapping(source, 'sample'));
    expect(evaluate(code, screen, 'array(labels(), save(), clear())')).to.deep.equal([
      ['Phone'],
      { address: { city: 'Ely', zip: 'CB7' }, phone: '5' },
      ['Phone'],
    ]);
  });

  describe('of a record with a password', () => {
    const fields = {
      start_date: 'meta.dates.start',
      end_date: {
        parts: [
          { at: 'meta.end_day', format: 'Y-m-d' },
          { at: 'acf.end_hour', format: 'H:i' },
        ],
      },
      cost: 'meta.price',
      website: 'acf.site',
      venue: 'meta.places',
    } as const;
    const STORED = {
      meta: {
        dates: { start: '2027-05-01 19:00:00', door: '18:00' },
        end_day: '2027-05-01',
        price: '12',
        places: [7],
        own: 'x',
      },
      acf: { end_hour: '23:00', site: 'https://band.example', seats: 40, gallery: [{ id: 3 }] },
    };
    const EMPTIED = {
      meta: {
        dates: { start: '2027-05-01 19:00:00', door: '' },
        end_day: '2027-05-01',
        price: '',
        places: [],
        own: '',
      },
      acf: { end_hour: '23:00', site: '', seats: null, gallery: [] },
    };

    /** What the REST API shows of the record `STORED` of a type, whose password is "word". */
    function shown(existing: boolean, { supports = '', sent = {}, isEditor = false, locked = true } = {}): unknown {
      const site = `
        function post_password_required($post) { return ${locked}; }
        function current_user_can($capability, $id) { return ${isEditor} && array($capability, $id) === array('edit_post', 7); }
        ${supports && `add_post_type_support('gig', '${supports}');`}
        function shown() {
          $response = (object) array('data' => json_decode('${JSON.stringify(STORED)}', true));
          $post = (object) array('ID' => 7, 'post_password' => 'word');
          $request = new ArrayObject(json_decode('${JSON.stringify({ password: null, ...sent })}', true));
          return apply_filters('rest_prepare_gig', $response, $post, $request)->data;
        }`;
      const source = sourceWith(fields, { wordpress: { posts: { events: { type: 'gig', existing } } } });
      return evaluate(companionPlugin(compileMapping(source, 'sample')), site, 'shown()');
    }

    it('shows everybody the dates alone, and all to its editors and with the password', () => {
      expect(shown(false)).to.deep.equal(EMPTIED);
      expect(shown(false, { sent: { password: 'wrong' } })).to.deep.equal(EMPTIED);
      expect(shown(false, { sent: { password: ['word'] } })).to.deep.equal(EMPTIED);
      expect(shown(false, { sent: { password: 'word' } })).to.deep.equal(STORED);
      expect(shown(false, { isEditor: true })).to.deep.equal(STORED);
      expect(shown(false, { locked: false })).to.deep.equal(STORED);
    });

    it('says nothing of its state', () => {
      const stateOf = (locked: boolean) =>
        evaluate(
          companionPlugin(loadMapping('gatherpress')),
          `$_SERVER['HTTP_USER_AGENT'] = 'calendar-gateway/1';
           function post_password_required($post) { return ${locked}; }
           function current_user_can() { return false; }
           function get_post($id) { return (object) array('ID' => $id, 'post_password' => 'word'); }
           function get_the_terms() { return array(array('slug' => 'online-event')); }
           function wp_list_pluck($list, $key) { return array_column($list, $key); }
           $shown = array();
           function register_rest_field($type, $name, $field) {
             $request = new ArrayObject(array('password' => null));
             $GLOBALS['shown'][$name] = $field['get_callback'](array('id' => 7), $name, $request);
           }`,
          '$shown',
        );
      expect(stateOf(true)).to.deep.equal({ calendar_state: {} });
      expect(stateOf(false)).to.deep.equal({ calendar_state: { attendance_mode: 'online' } });
    });

    it('of another plugin’s type empties what it has opened alone', () => {
      expect(shown(true, { supports: 'custom-fields' })).to.deep.equal({
        meta: { ...EMPTIED.meta, own: 'x' },
        acf: STORED.acf,
      });
      expect(shown(true)).to.deep.equal({ meta: EMPTIED.meta, acf: STORED.acf });
    });
  });

  describe('for Events Manager, which shows visitors none of its values', () => {
    const code = companionPlugin(loadMapping('events-manager'));
    const DATES = {
      _event_start_date: '2027-05-01',
      _event_start_time: '19:00:00',
      _event_end_date: '2027-05-01',
      _event_end_time: '22:00:00',
      _event_timezone: 'Europe/Paris',
      _event_all_day: '0',
    };
    const PLACE = {
      _location_address: '1 Mill Lane',
      _location_town: 'Ely',
      _location_state: 'Cambs',
      _location_postcode: 'CB7',
      _location_country: 'GB',
      _location_latitude: '52.4',
      _location_longitude: '0.26',
    };

    it('opens the values that the mapping names, and no other', () => {
      const keysOf = (type: string) =>
        load(code, '')
          .registered.filter(({ subtype }) => subtype === type)
          .map(({ key }) => key);
      expect(keysOf('event')).to.have.members([...Object.keys(DATES), '_location_id']);
      expect(keysOf('location')).to.have.members([...Object.keys(PLACE), '_location_id']);
    });

    it('shows of an event with a password the dates alone, of a location nothing', () => {
      const shown = (type: string, meta: Record<string, string>, locked: boolean) =>
        evaluate(
          code,
          `function post_password_required() { return ${locked}; }
           function current_user_can() { return false; }`,
          `apply_filters('rest_prepare_${type}', (object) array('data' => json_decode('${JSON.stringify({ meta })}', true)),
            (object) array('ID' => 7, 'post_password' => 'word'), new ArrayObject(array('password' => null)))->data['meta']`,
        );
      expect(shown('event', { ...DATES, _location_id: '3' }, false)).to.deep.equal({ ...DATES, _location_id: '3' });
      expect(shown('event', { ...DATES, _location_id: '3' }, true)).to.deep.equal({ ...DATES, _location_id: '' });
      expect(shown('location', PLACE, false)).to.deep.equal(PLACE);
      expect(Object.values(shown('location', PLACE, true) as object)).to.deep.equal(Object.values(PLACE).map(() => ''));
    });
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

    it('shows the gateway every cost of an event with several, each once', () => {
      const shown = (costs: string[], asGateway = true) =>
        evaluate(
          code,
          `$_SERVER['HTTP_USER_AGENT'] = '${asGateway ? 'calendar-gateway/1' : 'browser'}';
           function get_post_meta() { return json_decode('${JSON.stringify(costs)}'); }
           function metadata_exists() { return true; }
           function post_password_required() { return false; }
           $response = (object) array('data' => array('meta' => array('_EventCost' => '${costs[0]}')));
           $post = (object) array('ID' => 7, 'post_parent' => 0);`,
          `apply_filters('rest_prepare_tribe_events', $response, $post, array('password' => null))->data['meta']['_EventCost']`,
        );
      expect(shown(['€10', '€20', '€10'])).to.equal(JSON.stringify(['€10', '€20']).replaceAll('€', '\\u20ac'));
      expect(shown(['10', '10'])).to.equal('10');
      expect(shown(['10', '20'], false)).to.equal('10');
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
    for (const name of wordPressMappings)
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
      function get_post_type($id) { return array(5 => 'gig', 6 => 'page', 9 => 'gig')[$id]; }
      function get_post_type_object($type) {
        return (object) array('name' => $type, 'show_in_rest' => true, 'rest_base' => $type === 'gig' ? 'events' : '');
      }
      function get_taxonomy($name) {
        return (object) array('name' => $name, 'show_in_rest' => true, 'rest_base' => $name === 'genre' ? 'event_categories' : '');
      }
      function get_post_status($id) { return $id === 9 ? 'trash' : 'publish'; }
      function act() {
        apply_filters('wp_after_insert_post', 5);
        apply_filters('wp_after_insert_post', 6);
        apply_filters('wp_after_insert_post', 9);
        apply_filters('edited_term', 7, 0, 'genre');
        apply_filters('edited_term', 8, 0, 'nav_menu');
        return CalendarGateway\\SiteSample\\changed_records();
      }`;

    it('sends webhooks for changes of the mapping’s collections only, and says what is in the trash', () => {
      expect(evaluate(code, plugin, 'act()')).to.deep.equal([
        { collection: 'events', id: 5 },
        { collection: 'events', id: 9, trashed: true },
        { collection: 'event_categories', id: 7 },
      ]);
    });
  });

  describe('publishes in the description of the site what an event plugin keeps in its options', () => {
    const description = (mapping: string, plugin: string) =>
      evaluate(
        companionPlugin(loadMapping(mapping)),
        plugin,
        "apply_filters('rest_index', (object) array('data' => array('name' => 'Site')))->data",
      );

    it('for The Events Calendar: what the site chose, and nothing for a default', () => {
      const plugin = (options: string) =>
        `function tribe_get_option($name, $default) { $set = array(${options}); return $set[$name] ?? $default; }`;
      expect(description('tribe-events-native', plugin(''))).to.deep.equal({ name: 'Site' });
      const options = `'defaultCurrencySymbol' => '€', 'defaultCurrencyCode' => 'EUR', 'reverseCurrencyPosition' => 'yes',
        'multiDayCutoff' => '05:00', 'tribe_events_timezone_mode' => 'site', 'license' => 'secret'`;
      expect(description('tribe-events-native', plugin(options))).to.deep.equal({
        name: 'Site',
        calendar_gateway: {
          currency_symbol: '€',
          currency_code: 'EUR',
          currency_position: 'postfix',
          day_starts: '05:00',
          timezone_mode: 'site',
        },
      });
      expect(description('tribe-events-native', plugin("'reverseCurrencyPosition' => '0'"))).to.deep.equal({
        name: 'Site',
        calendar_gateway: { currency_position: 'prefix' },
      });
    });

    it('for Modern Events Calendar, with the blank between sign and amount', () => {
      const plugin = `class MEC {
        static function getInstance() { return new MEC(); }
        function get_currency_sign() { return 'zł'; }
        function get_currency_sign_position() { return 'after_space'; }
        function get_currency_code() { return 'PLN'; }
      }`;
      expect(description('modern-events-calendar', plugin)).to.deep.equal({
        name: 'Site',
        calendar_gateway: { currency_symbol: ' zł', currency_code: 'PLN', currency_position: 'postfix' },
      });
    });

    it('for WP Event Manager: that its prices have no currency', () => {
      expect(description('wp-event-manager', '')).to.deep.equal({
        name: 'Site',
        calendar_gateway: { currency_symbol: '' },
      });
    });

    it('nothing where the mapping is no event plugin’s', () => {
      expect(description('wordpress-meta', '')).to.deep.equal({ name: 'Site' });
    });
  });

  it('gives new drafts of venues and organizers a slug, and pending ones those of users who may publish', () => {
    const site = `
      function get_post_type_object($type) { return (object) array('cap' => (object) array('publish_posts' => 'publish_posts')); }
      function current_user_can($capability) { global $can; return $can; }
      function sanitize_title($title) { return strtolower($title); }
      function wp_unslash($text) { return $text; }
      function wp_unique_post_slug($slug) { return $slug; }
      function slug($type, $status, $mayPublish, $slug = '', $id = 0) {
        global $can;
        $can = $mayPublish;
        $data = array('post_type' => "calendar_$type", 'post_status' => $status, 'post_title' => 'Hall', 'post_name' => $slug);
        return apply_filters('wp_insert_post_data', $data, array('ID' => $id))['post_name'];
      }`;
    const slugs = `array(slug('venue', 'draft', false), slug('organizer', 'pending', true), slug('organizer', 'pending', false),
      slug('event', 'draft', true), slug('venue', 'publish', true), slug('venue', 'draft', true, 'kept'), slug('venue', 'draft', true, '', 5))`;
    expect(evaluate(companionPlugin(loadMapping('wordpress-meta')), site, slugs)).to.deep.equal([
      'hall',
      'hall',
      '',
      '',
      '',
      'kept',
      '',
    ]);
    // A draft that an editor begins in wp-admin is another plugin's own. Of the gateway it has a slug from the start.
    const native = companionPlugin(loadMapping('tribe-events-native'));
    const draft = "slug('venue', 'draft', true)";
    const ofNative = site.replace('calendar_$type', 'tribe_$type');
    expect(evaluate(native, ofNative, draft)).to.equal('');
    const agent = "$_SERVER['HTTP_USER_AGENT'] = 'calendar-gateway/1.0.0';";
    expect(evaluate(native, `${ofNative}\n${agent}`, draft)).to.equal('hall');
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
