// The records of a rejected create that the companion plugin reports, in PHP.

import { expect } from 'chai';
import { companionPlugin } from '../../src/cli/plugin/companion-plugin.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { sourceWith } from '../mapping/samples.ts';
import { evaluate } from './evaluate-php.ts';

describe('the companion plugin', () => {
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
});
