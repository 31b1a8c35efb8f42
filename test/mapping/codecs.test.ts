// The codec registry, and its copy in the JSON Schema that editors use.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { CODECS, codecSchema } from '../../src/mapping/codecs/registry.ts';
import { mappingWith } from './samples.ts';

const SCHEMA_FILE = new URL('../../src/mapping/mapping.schema.json', import.meta.url);

describe('codec registry', () => {
  it('has one codec of each name', () => {
    const names = CODECS.map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
  });

  it('has exactly one default codec for each field type', () => {
    const types = new Set(CODECS.flatMap(({ fits }) => fits));
    for (const type of types) {
      const defaults = CODECS.filter(({ defaultFor }) => defaultFor?.includes(type));
      expect(
        defaults.map(({ name }) => name),
        type,
      ).to.have.length(1);
      expect(defaults[0]?.fits, type).to.include(type);
    }
  });

  it('gives each codec one way to read and write', () => {
    for (const { name, create, createAccessor } of CODECS)
      expect([create, createAccessor].filter(Boolean), name).to.have.length(1);
  });

  it('agrees with mapping.schema.json (npm run docs updates the file)', () => {
    const schema = JSON.parse(readFileSync(SCHEMA_FILE, 'utf8'));
    if (process.env.WRITE_DOCS) {
      schema.definitions.codec = codecSchema();
      writeFileSync(SCHEMA_FILE, `${JSON.stringify(schema, null, 2)}\n`);
    }
    expect(schema.definitions.codec).to.deep.equal(codecSchema());
  });

  it('refuses an unknown codec, and one that does not fit the field', () => {
    expect(() => mappingWith({ cost: { at: 'meta.c', as: 'money' } })).to.throw(
      /must be one of text, html, plain-text/,
    );
    expect(() => mappingWith({ cost: { at: 'meta.c', as: 'ids' } })).to.throw(
      /"ids" does not fit this field; fitting are text, plain-text, number/,
    );
    expect(() =>
      mappingWith({ website: { at: 'meta.w', as: { currency: { symbol: 'meta.s', position: 'meta.p' } } } }),
    ).to.throw(/"currency" does not fit this field; fitting are text, plain-text, number$/m);
  });
});
