// docs/configuration.md and config/schema.json, which editors read, list every setting as src/config-schema.ts has it.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { SETTINGS } from '../src/config.ts';
import { CONFIG_SCHEMA, DEFAULTS } from '../src/config-schema.ts';
import { RELOADABLE } from '../src/gateway.ts';

const FILE = new URL('../docs/configuration.md', import.meta.url);
const SCHEMA_FILE = new URL('../config/schema.json', import.meta.url);
/** The maximum of a setting that has no other. */
const UNLIMITED = 2_147_483_647;
const SECTION = /(<!-- settings -->\n)([\s\S]*?)(<!-- \/settings -->)/;

function defaultOf(key: string): string {
  const value = key
    .split('.')
    .reduce<unknown>((object, name) => (object as Record<string, unknown> | undefined)?.[name], DEFAULTS);
  return value === undefined || (Array.isArray(value) && value.length === 0) ? '' : `\`${JSON.stringify(value)}\``;
}

interface SettingSchema {
  type?: string | readonly string[];
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  properties?: Record<string, SettingSchema>;
}

/** The values that the schema allows: words, a range, or `true` and `false`. A text or a list has no short form. */
function valuesOf(key: string): string {
  const schema = key
    .split('.')
    .reduce<SettingSchema>((section, name) => section.properties?.[name] ?? {}, CONFIG_SCHEMA as SettingSchema);
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.type === 'boolean') return '`true`, `false`';
  if (schema.minimum === undefined) return '';
  return schema.maximum === undefined || schema.maximum === UNLIMITED
    ? `from ${schema.minimum}`
    : `${schema.minimum} to ${schema.maximum}`;
}

const rows = SETTINGS.map(({ key, variable, fileVariable, description }) => {
  const variables = [variable, ...(fileVariable ? [fileVariable] : [])].map((name) => `\`${name}\``);
  return `| \`${key}\` | ${variables.join(', ')} | ${defaultOf(key)} | ${valuesOf(key)} | ${description.replaceAll('|', '\\|')} |`;
});
const expected = `\n| key | variable | default | values | meaning |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n\n`;

describe('docs/configuration.md', () => {
  it('agrees with the schema (npm run docs updates the file)', () => {
    const text = readFileSync(FILE, 'utf8');
    if (process.env.WRITE_DOCS)
      writeFileSync(
        FILE,
        text.replace(SECTION, (_section, begin: string, _table, end: string) => begin + expected + end),
      );
    else expect(SECTION.exec(text)?.[2]).to.equal(expected);
  });
});

describe('the lists of objects among the settings', () => {
  for (const [key, file] of [
    ['sources', 'docs/sources.md'],
    ['push', 'docs/webhooks.md'],
  ] as const)
    it(`${file} names each property of an entry of ${key}`, () => {
      const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
      const properties = Object.keys(CONFIG_SCHEMA.properties[key].items.properties);
      const unnamed = properties.filter((name) => !new RegExp(`["\`]${name}["\`:]`).test(text));
      expect(unnamed, `say in ${file} what these mean`).to.deep.equal([]);
    });
});

describe('docs/operations.md', () => {
  it('names what a reload takes over', () => {
    const text = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
    const [, list = ''] = /it takes over ([^.]*) from the file/.exec(text) ?? [];
    const named = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    // The file of the mapping may only move.
    expect(named).to.have.members([...RELOADABLE].filter((key) => key !== 'mapping'));
  });
});

describe('config/schema.json', () => {
  it('is the schema of a configuration file (npm run docs updates it)', () => {
    const { properties, ...schema } = CONFIG_SCHEMA;
    const $schema = { type: 'string', description: 'Where editors find this schema.' };
    const expected = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'Configuration of the calendar gateway',
      ...schema,
      properties: { $schema, ...properties },
    };
    if (process.env.WRITE_DOCS) writeFileSync(SCHEMA_FILE, `${JSON.stringify(expected, undefined, 2)}\n`);
    else expect(JSON.parse(readFileSync(SCHEMA_FILE, 'utf8'))).to.deep.equal(expected);
  });
});
