// The parameter of the companion plugin for the occurrences of events, in PHP.

import { expect } from 'chai';
import { companionPlugin } from '../../src/cli/plugin/companion-plugin.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { evaluate } from './evaluate-php.ts';

describe('the companion plugin’s parameter for occurrences', () => {
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
