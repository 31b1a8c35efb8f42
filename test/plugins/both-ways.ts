// What holds for every writable mapping, value by value: what the gateway writes is what the plugin's own functions
// say, and what the plugin writes is what the gateway shows.

import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import type { Checks, PluginSite } from './plugin-test.ts';
import { write } from './site-requests.ts';

/** A field of an event. The PHP knows `$id` and `$ids`, what SLUG.php printed. */
interface PluginField {
  values(ids: PluginSite['ids']): readonly unknown[];
  /** PHP expression: the value, as the plugin's own functions say it. */
  read: string;
  /** PHP statement: stores `$value` through the plugin. */
  write: string;
}

/** Of a linked record its id; of a text neither the kind of dash nor the blanks around it. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain).sort();
  if (typeof value === 'object' && value !== null) return (value as Json).id;
  if (typeof value !== 'string') return value;
  return value.replaceAll('&amp;', '&').replace(/\s*[–-]\s*/g, '-');
}

interface Trial {
  field: string;
  value: unknown;
  id: number;
}

/** Runs the PHP of each trial, and resolves with what the plugin then says. */
function ask(site: PluginSite, fields: Readonly<Record<string, PluginField>>, trials: Trial[], isWriting: boolean) {
  const functions = Object.entries(fields).map(
    ([name, { read, write: store }]) =>
      `'${name}' => static function ( $id, $value ) use ( $ids ) { ${isWriting ? `${store};` : ''} clean_post_cache( $id ); return ${read}; },`,
  );
  return site.php<unknown[]>(
    `$ids = json_decode( '${JSON.stringify(site.ids)}', true );
    $of = array( ${functions.join('\n')} );
    return array_map( static fn( $trial ) => $of[ $trial['field'] ]( $trial['id'], $trial['value'] ), json_decode( <<<'JSON'
${JSON.stringify(trials)}
JSON
, true ) );`,
  );
}

/** @param event the fields that every event must have */
export function bothWays(fields: Readonly<Record<string, PluginField>>, event: Json): Checks {
  const made: Trial[] = [];
  const compare = (site: PluginSite, said: readonly unknown[], trials: readonly Trial[], shown: readonly unknown[]) => {
    const rows = (values: readonly unknown[]) =>
      trials.map(({ field, value }, index) => ({ field, value, is: plain(values[index]) }));
    console.log(`  ${site.options.name}: ${trials.length} values of ${Object.keys(fields).join(', ')}`);
    expect(rows(shown)).to.deep.equal(rows(said));
  };
  return {
    async 'each value that the gateway writes is what the plugin says'(site) {
      // The site with another theme has events of its own.
      made.length = 0;
      const shown: unknown[] = [];
      for (const [field, { values }] of Object.entries(fields))
        for (const value of values(site.ids)) {
          const json = { ...event, title: `${field} ${JSON.stringify(value)}`, [field]: value };
          const body = await write(site, 'events', json, 201);
          made.push({ field, value, id: Number(body.id) });
          shown.push(body[field]);
        }
      compare(site, await ask(site, fields, made, false), made, shown);
    },
    async 'each value that the plugin writes is what the gateway shows'(site) {
      const trials = made.map(({ field, id }, index) => {
        const { value } =
          made[made[index + 1]?.field === field ? index + 1 : made.findIndex((each) => each.field === field)]!;
        return { field, value, id };
      });
      const said = await ask(site, fields, trials, true);
      await site.nextPoll();
      const shown: unknown[] = [];
      for (const { id, field } of trials) shown.push((await site.request(`events/${id}`)).body[field]);
      compare(site, said, trials, shown);
    },
  };
}
