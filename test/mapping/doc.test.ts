// Holds docs/mapping.md to the truth: every block of it is run.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { compileMapping } from '../../src/mapping/compile.ts';
import { FIELDS } from '../../src/mapping/fields.ts';
import type { Native } from '../../src/upstream/port.ts';
import { mappingWith, site } from './samples.ts';

const text = readFileSync(new URL('../../docs/mapping.md', import.meta.url), 'utf8');

function blocks(info: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${info}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1] ?? '');
}

function line(block: string, name: string): Native | undefined {
  const found = new RegExp(`^${name}: +(.*)$`, 'm').exec(block)?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as Native);
}

describe('docs/mapping.md', () => {
  it('has examples', () => {
    expect(blocks('example')).to.have.length.above(20);
  });

  for (const block of blocks('example')) {
    const fields = block.split('\n').filter((row) => row.startsWith('"'));
    it(`tells the truth about ${fields[0]}`, () => {
      const event = mappingWith(JSON.parse(`{${fields.join(',')}}`)).kinds.event;
      const record = event.read({ id: 1, ...line(block, 'in') }, site) as unknown as Record<string, unknown>;
      const values: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(line(block, 'is') ?? {})) {
        const key = FIELDS.event[name]?.key ?? '';
        expect(record[key]).to.deep.equal(value);
        values[key] = value;
      }
      const before = line(block, 'before');
      expect(event.write(values, { site, ...(before ? { before } : {}) })).to.deep.equal(line(block, 'out'));
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

  it('shows a refusal as it is', () => {
    const [source = '', message = ''] = (blocks('refused')[0] ?? '').split('\n');
    expect(() => compileMapping(JSON.parse(source), 'gigs')).to.throw(message);
  });

  it('names every field', () => {
    for (const [kind, table] of Object.entries(FIELDS))
      for (const name of Object.keys(table)) expect(text, `${kind} ${name}`).to.include(`\`${name}\``);
  });
});
