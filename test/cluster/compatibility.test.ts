// Which gateways may share a change log, and the error that names the difference.

import { expect } from 'chai';
import { assertCompatible, compatibilityOf, keyPrefix } from '../../src/cluster/compatibility.ts';
import { ConfigError } from '../../src/errors.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { SERVICE } from '../cms/fake-cms.ts';

const SITE = 'https://cms.example';
const mapping = loadMapping('wordpress-meta');
const own = compatibilityOf(SITE, mapping, SERVICE);

function errorFor(theirs: object): string {
  try {
    assertCompatible(own, JSON.stringify({ ...own, ...theirs }));
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('accepted');
}

describe('compatibility of gateways that share a change log', () => {
  it('accepts a gateway with the same configuration', () => {
    assertCompatible(own, JSON.stringify(compatibilityOf(SITE, loadMapping('wordpress-meta'), SERVICE)));
  });

  it('names a different version of the interface, of the records or of the protocol', () => {
    const theirs = own['interface version'].replace(/protocol \d+$/, 'protocol 0');
    expect(errorFor({ 'interface version': theirs })).to.match(
      /CALENDAR_REDIS_URL.*interface version: theirs is calendar\/events\/v1, records \S+, protocol 0, this gateway has calendar\/events\/v1/,
    );
    expect(errorFor({ 'interface version': 'calendar/events/v2, records 1, protocol 1' })).to.include('events/v2');
  });

  it('names another mapping, and different contents of a mapping with the same name', () => {
    expect(errorFor({ mapping: 'acf' })).to.match(/mapping: theirs is acf, this gateway has wordpress-meta/);
    const other: Mapping = { ...mapping, source: { ...mapping.source, name: 'x' } };
    const theirs = compatibilityOf(SITE, other, SERVICE)['mapping contents'];
    expect(errorFor({ 'mapping contents': theirs })).to.match(/mapping contents: theirs is \w{16}/);
  });

  it('names a different scope: all records, or only public ones', () => {
    const { scope } = compatibilityOf(SITE, mapping, undefined);
    expect(errorFor({ scope })).to.include('scope: theirs is public records, this gateway');
  });

  it('uses another key prefix for another site', () => {
    expect(keyPrefix(SITE)).to.equal(keyPrefix(`${SITE}/`));
    expect(keyPrefix(SITE)).to.not.equal(keyPrefix('https://other.example'));
  });
});
