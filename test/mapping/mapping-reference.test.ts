// docs/mapping-reference.md lists what the schema, the field table and the codecs have.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { FIELDS } from '../../src/interface/fields.ts';
import { CMS_RULES } from '../../src/mapping/cms-rules.ts';
import { CODECS } from '../../src/mapping/codecs/registry.ts';
import schema from '../../src/mapping/mapping.schema.json' with { type: 'json' };
import type { CmsName } from '../../src/mapping/mapping-file.ts';
import { KINDS } from '../../src/model/records.ts';
import { NAMED_CODECS, OPTIONS_OF_CODECS } from './samples.ts';

const FILE = new URL('../../docs/mapping-reference.md', import.meta.url);
const SECTION = /(<!-- reference -->\n)([\s\S]*?)(<!-- \/reference -->)/;

interface Rule {
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  $ref?: string;
  anyOf?: Rule[];
  items?: Rule;
  properties?: Record<string, Rule>;
  required?: string[];
}
const { definitions } = schema;
const code = (text: string): string => `\`${text}\``;
const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

/** What a key may hold, in a word or two. */
function valueText(rule: Rule): string {
  if (rule.const !== undefined) return code(JSON.stringify(rule.const));
  if (rule.enum) return rule.enum.map((value) => code(JSON.stringify(value))).join(', ');
  if (rule.$ref) return NAMES[rule.$ref.replace('#/definitions/', '')] ?? rule.$ref;
  if (rule.anyOf) return rule.anyOf.map(valueText).join(', or ');
  const types = rule.type === undefined ? 'any value' : [rule.type].flat().join(' or ');
  return types === 'array' ? `list of ${rule.items ? valueText(rule.items) : 'values'}` : types;
}
const NAMES: Record<string, string> = {
  kind: '[kind](#kinds)',
  wordpress: '[object](#wordpress)',
  wordpressCollection: '[object](#wordpress)',
  payload: '[object](#payload)',
  collection: 'name of a collection',
  path: 'path',
  codec: '[codec](#codecs)',
  location: 'path, or [location](#locations)',
  parts: 'list of parts',
  field: '[field](#forms-of-a-field)',
};

const keys = (properties: Record<string, Rule>, required: string[] = []): string =>
  table(
    ['key', 'value', 'meaning'],
    Object.entries(properties).map(([name, rule]) => [
      code(name) + (required.includes(name) ? ' (required)' : ''),
      valueText(rule),
      rule.description ?? '',
    ]),
  );

/** One row for all kinds that have the field in the same form. */
function fieldRows(): string[][] {
  const kindsOf = new Map<string, string[]>();
  for (const kind of KINDS)
    for (const [name, field] of Object.entries(FIELDS[kind])) {
      const shape = ['event', 'venue', 'organizer'].includes(kind) ? 'posts' : 'terms';
      const without = (cms: CmsName): string => {
        const location = CMS_RULES[cms].coreLocations[shape][field.property];
        return location ? code(String(location.read ?? location.at)) : '';
      };
      const row = [
        code(name) + (field.required ? ' (required)' : ''),
        field.type,
        without('wordpress'),
        without('payload'),
        field.parameter ? 'yes' : 'no',
      ].join(' | ');
      kindsOf.set(row, [...(kindsOf.get(row) ?? []), kind]);
    }
  return [...kindsOf].map(([row, kinds]) => [kinds.join(', '), row]);
}

const codecRows = (): string[][] =>
  Object.entries(CODECS)
    .filter(([name]) => NAMED_CODECS.includes(name))
    .map(([name, { fits, onlyField, defaultFor = [] }]) => [
      code(name),
      onlyField === undefined ? fits.join(', ') : code(onlyField),
      defaultFor.join(', '),
      name in OPTIONS_OF_CODECS ? code(JSON.stringify(OPTIONS_OF_CODECS[name]).replaceAll('#/definitions/', '')) : '',
    ]);

const part = (heading: string, ...texts: string[]): string => `\n## ${heading}\n\n${texts.join('\n')}`;
const { posts, terms } = definitions.wordpress.properties;

const expected = `${[
  part('The file', keys(schema.properties as Record<string, Rule>, schema.required)),
  part('Kinds', keys(definitions.kind.properties as Record<string, Rule>)),
  part(
    'Forms of a field',
    'A path, or an object with one of `at`, `parts`, `read`, `value` and `embedded`.\n',
    keys(definitions.field.then.properties as Record<string, Rule>),
  ),
  part(
    'Locations',
    `In \`read\` and \`write\`: ${Object.keys(definitions.location.then.properties).map(code).join(', ')}, as in a field.\n`,
  ),
  part(
    'Fields',
    'The type gives the default [codec](#codecs). A field that every record of the CMS has needs no entry; nor do `categories` and `tags` of events if the mapping has these kinds.\n',
    table(['kinds', 'field', 'type', 'without an entry, WordPress', 'Payload', 'clients may set it'], fieldRows()),
  ),
  part(
    'Codecs',
    'Options are shown as JSON Schema; [mapping.md](mapping.md#codecs) has an example of each.\n',
    table(['codec', 'fits fields of type', 'default of type', 'options'], codecRows()),
  ),
  part('WordPress', 'In a kind:\n', keys(definitions.wordpressCollection.properties as Record<string, Rule>)),
  '\nIn a preset:\n\n',
  keys(schema.properties.preset.properties.wordpress.properties as Record<string, Rule>),
  '\nIn the file:\n\n',
  keys(definitions.wordpress.properties as Record<string, Rule>),
  '\nA post type in `posts`:\n\n',
  keys(posts.additionalProperties.properties, posts.additionalProperties.required),
  '\nA taxonomy in `terms`:\n\n',
  keys(terms.additionalProperties.properties, terms.additionalProperties.required),
  part('Payload', keys(definitions.payload.properties as Record<string, Rule>)),
].join('')}\n`;

describe('docs/mapping-reference.md', () => {
  it('agrees with schema, fields and codecs (npm run docs updates the file)', () => {
    const text = readFileSync(FILE, 'utf8');
    if (process.env.WRITE_DOCS)
      writeFileSync(
        FILE,
        text.replace(SECTION, (_section, begin: string, _tables, end: string) => begin + expected + end),
      );
    else expect(SECTION.exec(text)?.[2]).to.equal(expected);
  });

  it('says what each key means', () => {
    const rules = [
      schema.properties,
      definitions.kind.properties,
      definitions.field.then.properties,
      definitions.location.then.properties,
      definitions.wordpress.properties,
      definitions.wordpressCollection.properties,
      definitions.payload.properties,
      posts.additionalProperties.properties,
      terms.additionalProperties.properties,
    ].flatMap((properties) => Object.entries(properties as Record<string, Rule>));
    expect(rules.filter(([, { description }]) => !description).map(([name]) => name)).to.deep.equal([]);
  });
});
