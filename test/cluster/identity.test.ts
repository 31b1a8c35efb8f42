// What gateways on one stream must have in common, and how clearly others are refused.

import { expect } from 'chai';
import { compareIdentities, identityOf, prefixOf } from '../../src/cluster/identity.ts';
import { ConfigError } from '../../src/errors.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { SERVICE } from '../replica/fake-wordpress.ts';

const SITE = 'https://cms.example';
const mapping = loadMapping('wordpress-meta');
const mine = identityOf(SITE, mapping, SERVICE);

function refusal(theirs: object): string {
  try {
    compareIdentities(mine, JSON.stringify({ ...mine, ...theirs }));
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('it was not refused');
}

describe('gateways on one stream', () => {
  it('may be as many as there are of one kind', () => {
    compareIdentities(mine, JSON.stringify(identityOf(SITE, loadMapping('wordpress-meta'), SERVICE)));
  });

  it('are refused with what differs: the version of the interface, of the records or of the stream', () => {
    const theirs = mine['interface version'].replace(/stream \d+$/, 'stream 0');
    expect(refusal({ 'interface version': theirs })).to.match(
      /CALENDAR_REDIS_URL.*interface version: theirs is calendar\/events\/v1, records \d+, stream 0, this one's is calendar\/events\/v1/,
    );
    expect(refusal({ 'interface version': 'calendar/events/v2, records 1, stream 1' })).to.include('events/v2');
  });

  it('are refused for a mapping of another name, and for one of the same name that says something else', () => {
    expect(refusal({ mapping: 'acf' })).to.match(/mapping: theirs is acf, this one's is wordpress-meta/);
    const other: Mapping = { ...mapping, source: { ...mapping.source, name: 'x' } };
    const theirs = identityOf(SITE, other, SERVICE)['mapping contents'];
    expect(refusal({ 'mapping contents': theirs })).to.match(/mapping contents: theirs is \w{16}/);
  });

  it('are refused where one copies all records and the other public ones alone', () => {
    const { scope } = identityOf(SITE, mapping, undefined);
    expect(refusal({ scope })).to.include('scope: theirs is public records, this one');
  });

  it('of different sites share an engine without meeting', () => {
    expect(prefixOf(SITE)).to.equal(prefixOf(`${SITE}/`));
    expect(prefixOf(SITE)).to.not.equal(prefixOf('https://other.example'));
  });
});
