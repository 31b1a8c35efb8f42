// docs/configuration.md lists every setting as the schema and the defaults have it.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import defaults from '../config/default.json' with { type: 'json' };
import { SETTINGS } from '../src/config-environment.ts';

const FILE = new URL('../docs/configuration.md', import.meta.url);
const SECTION = /(<!-- settings -->\n)([\s\S]*?)(<!-- \/settings -->)/;

function defaultOf(key: string): string {
  const value = key
    .split('.')
    .reduce<unknown>((object, name) => (object as Record<string, unknown> | undefined)?.[name], defaults);
  return value === undefined || (Array.isArray(value) && value.length === 0) ? '' : `\`${JSON.stringify(value)}\``;
}

const rows = SETTINGS.map(({ key, variable, fileVariable, description }) => {
  const variables = [variable, ...(fileVariable ? [fileVariable] : [])].map((name) => `\`${name}\``);
  return `| \`${key}\` | ${variables.join(', ')} | ${defaultOf(key)} | ${description.replaceAll('|', '\\|')} |`;
});
const expected = `\n| key | variable | default | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n\n`;

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
