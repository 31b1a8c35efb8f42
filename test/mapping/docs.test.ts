// Runs every example of docs/mapping.md.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { CmsRecord } from '../../src/cms/port.ts';
import { FIELDS } from '../../src/interface/fields.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { mappingWith, NAMED_CODECS, OPTIONS_OF_CODECS, site } from './samples.ts';

type Options = { properties?: object };

const text = readFileSync(new URL('../../docs/mapping.md', import.meta.url), 'utf8');

/** The code blocks with this info string. */
function blocks(info: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${info}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1] ?? '');
}

/** The JSON after `name:` in an example. */
function jsonAfter(example: string, name: string): CmsRecord | undefined {
  const json = new RegExp(`^${name}: +(.*)$`, 'm').exec(example)?.[1];
  return json === undefined ? undefined : (JSON.parse(json) as CmsRecord);
}

describe('docs/mapping.md', () => {
  it('has examples', () => {
    expect(blocks('example')).to.have.length.above(20);
  });

  for (const example of blocks('example')) {
    const fields = example.split('\n').filter((line) => line.startsWith('"'));
    it(`reads and writes as shown: ${fields[0]}`, () => {
      const event = mappingWith(JSON.parse(`{${fields.join(',')}}`)).kinds.event;
      const record: Record<string, unknown> = { ...event.read({ id: 1, ...jsonAfter(example, 'in') }, site) };
      const values: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(jsonAfter(example, 'is') ?? {})) {
        const key = FIELDS.event[name]?.property ?? '';
        expect(record[key]).to.deep.equal(value);
        values[key] = value;
      }
      const body = event.write(values, { site, current: jsonAfter(example, 'before') });
      expect(body).to.deep.equal(jsonAfter(example, 'out'));
    });
  }

  it('shows a whole mapping that compiles', () => {
    const [source] = blocks('json mapping');
    expect(source?.trim().split('\n')).to.have.length.below(21);
    const mapping = compileMapping(JSON.parse(source ?? ''), 'gigs');
    expect(mapping.kinds.event.read({ id: 1, meta: { gig_start: '2027-05-01 19:30:00', hall: 3 } }, site)).to.include({
      start: '2027-05-01 19:30:00',
      startUtc: '2027-05-01 23:30:00',
    });
  });

  it('shows the error message of an invalid mapping', () => {
    const [source = '', message = ''] = (blocks('refused')[0] ?? '').split('\n');
    expect(() => compileMapping(JSON.parse(source), 'gigs')).to.throw(message);
  });

  it('names every codec', () => {
    for (const name of NAMED_CODECS) expect(text, name).to.match(new RegExp(`\`${name}\`|"${name}"`));
  });

  it('names every option of a codec', () => {
    const options = Object.entries(OPTIONS_OF_CODECS).flatMap(([codec, { properties = {} }]: [string, Options]) =>
      Object.keys(properties).map((option) => [codec, option]),
    );
    expect(options).to.deep.include(['unix', 'asText']);
    const missing = options.filter(([, option]) => !text.includes(`"${option}"`) && !text.includes(`\`${option}\``));
    expect(missing, 'docs/mapping.md needs a sentence or an example of each').to.deep.equal([]);
  });
});

describe('docs/mapping.md: recipes', () => {
  const section = text.slice(text.indexOf('## Recipes\n') + 3).split(/^## /m)[0]!;
  const recipes = [...section.matchAll(/^\| (.*) \| (.*) \|$/gm)]
    .map(([, data = '', line = '']) => ({ data, lines: [...line.matchAll(/`("[^`]*)`/g)].map(([, json]) => json) }))
    .filter(({ lines }) => lines.length > 0);

  it('exist', () => {
    expect(recipes.length).to.be.above(8);
  });

  for (const { data, lines } of recipes) {
    it(`has a recipe that compiles: ${data}`, () => {
      const { posts, ...fields } = JSON.parse(`{${lines.join(',')}}`) as Record<string, unknown>;
      const { terms } = (fields.venue ?? {}) as { terms?: string };
      // A venue that is a term is a kind.
      const kinds = terms ? { venue: { terms } } : {};
      if (terms) delete fields.venue;
      expect(posts).to.be.oneOf([undefined, 'posts']);
      expect(() => mappingWith(fields, kinds)).not.to.throw();
    });
  }
});
