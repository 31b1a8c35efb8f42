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
});
