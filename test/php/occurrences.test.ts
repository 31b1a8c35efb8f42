// The parameter of the companion plugin for the occurrences of events, in PHP.

import { expect } from 'chai';
import { companionPlugin } from '../../src/cli/plugin/companion-plugin.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { evaluate } from './evaluate-php.ts';

describe('the companion plugin’s parameter for occurrences', () => {
  const code = companionPlugin(loadMapping('event-organiser'));
  /** The fields that the plugin adds to the records of a response. */
  const fieldsFor = (value: string) =>
    evaluate(
      code,
      `function current_datetime() { return new DateTimeImmutable('2027-01-01'); }
       $fields = array();
       function register_rest_field($type, $name) { global $fields; $fields[] = $name; }
       $_GET['calendar_occurrences'] = ${value};`,
      '$fields',
    );

  for (const value of ["'0,0'", "'180,366'", "'3660,3660'"])
    it(`adds them: ${value}`, () => {
      expect(fieldsFor(value)).to.deep.equal(['calendar_occurrences']);
    });

  for (const value of ["'9999,9999'", "'3661,0'", "'0,3661'", "'1'", "''", "'-1,5'", "'1,2,3'", "array('1,2')"])
    it(`adds none for another value: ${value}`, () => {
      expect(fieldsFor(value)).to.deep.equal([]);
    });

  it('shows of a series with a password when it takes place, and nothing else, also for rows that are objects', () => {
    const native = companionPlugin(loadMapping('tribe-events-native'));
    const row = "(object) array('start' => '2027-01-08 10:00:00', 'end' => '2027-01-08 12:00:00', 'title' => 'Secret')";
    const shown = evaluate(
      native,
      `function current_datetime() { return new DateTimeImmutable('2027-01-01'); }
       function get_post($id) { return (object) array('ID' => $id, 'post_password' => 'word'); }
       function post_password_required() { return true; }
       function current_user_can() { return false; }
       $fields = array();
       function register_rest_field($type, $name, $field) { global $fields; $fields[$name] = $field; }
       class Rows {
         public $prefix = 'wp_';
         public $last_error = '';
         function esc_like($text) { return $text; }
         function prepare($sql) { return $sql; }
         function get_results($sql) {
           return strpos($sql, 'count(*)') ? array((object) array('rows_' => 2)) : array(${row});
         }
       }
       $_GET['calendar_occurrences'] = '180,366';
       $wpdb = new Rows();`,
      "call_user_func($fields['calendar_occurrences']['get_callback'], array('id' => 12), 'calendar_occurrences', array('password' => null))",
    );
    expect(shown).to.deep.equal([{ start: '2027-01-08 10:00:00', end: '2027-01-08 12:00:00' }]);
  });
});
