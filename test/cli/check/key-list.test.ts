// The names of fields in an advice: odd ones are quoted, and of many the operator sees those that may be meant.

import { expect } from 'chai';
import { listKeys } from '../../../src/cli/check/key-list.ts';
import { advise as advisePayload } from '../../../src/cli/check/payload/advice.ts';
import { advise } from '../../../src/cli/check/wordpress/advice.ts';

describe('the list of keys in an advice', () => {
  it('has one line, whatever the keys hold', () => {
    const keys = ['meta.größe', 'meta._price', 'meta.two\nlines', 'meta.a, meta.b', 'meta.\u001b[2J', ''];
    const listed = 'meta.größe, meta._price, "meta.two\\nlines", "meta.a, meta.b", "meta.\\u001b[2J", ""';
    expect(listKeys(keys)).to.equal(listed);
    expect(advise('register-keys', '--mapping acf', keys)).to.include(`shows: ${listed}. If`);
    expect(advisePayload('path', 'gigs', keys)).to.include(`: ${listed}.`);
  });

  it('shows characters that a terminal hides or obeys, and cuts long keys', () => {
    const keys = ['a\u009b2J', 'a\u007f', 'a\u202eb', 'a\u2028b', 'a\u200bb', 'k'.repeat(4_000_000)];
    expect(listKeys(keys)).to.equal(
      `"a\\u009b2J", "a\\u007f", "a\\u202eb", "a\\u2028b", "a\\u200bb", "${'k'.repeat(100)}…"`,
    );
  });

  it('shows all of twenty in their order, and of more the most similar', () => {
    const keys = Array.from({ length: 20 }, (_, index) => `meta.field_${index}`);
    expect(listKeys(keys, 'meta.gig_strat')).to.equal(keys.join(', '));
    const many = [...keys, 'meta.gig_start', 'meta.gig_end'];
    const listed = listKeys(many, 'meta.gig_strat');
    expect(listed.startsWith('meta.gig_start, meta.gig_end, ')).to.equal(true);
    expect(listed.endsWith(' and 2 more')).to.equal(true);
  });
});
