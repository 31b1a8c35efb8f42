// The record that the companion plugin finds by the key of its create, in PHP.

import { expect } from 'chai';
import { companionPlugin } from '../../src/cli/plugin/companion-plugin.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { sourceWith } from '../mapping/samples.ts';
import { evaluate } from './evaluate-php.ts';

describe('the companion plugin', () => {
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
