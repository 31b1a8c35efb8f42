// Full-text search of events: long words, case, accents and special characters.

import { expect } from 'chai';
import { searchedText } from '../../src/store/full-text-index.ts';
import { listEvents } from '../../src/store/list-events.ts';
import { Replica } from '../../src/store/replica.ts';
import type { SearchWord } from '../../src/text/text.ts';
import { upsert } from './changes.ts';
import { event } from './sample-records.ts';

describe('the search of events', () => {
  it('finds and excludes words that are longer than the full-text index searches for', () => {
    const replica = new Replica({ identity: 'test' });
    const long = 'abcdefghijklmnopqrstuvwxyz'.repeat(3);
    const texts = [
      `${long}-one`,
      `x ${long}-two y`,
      long,
      'abcdefghijklmnopqrstuvwx',
      'lala'.repeat(60),
      'ééé'.repeat(40),
    ];
    // More candidates than the replica reads texts of: it uses the full-text index.
    upsert(
      replica,
      Array.from({ length: 3600 }, (_, n) => event(n + 1, { searchText: texts[n % 60] ?? `other ${n}` })),
    );
    const count = (...words: SearchWord[]) =>
      listEvents(replica.db, { words, order: 'start', limit: 5, offset: 0 }).total;
    const word = (text: string, not = false): SearchWord => ({ text, not });
    expect(count(word(`${long}-one`))).to.equal(60);
    expect(count(word(`${long.toUpperCase()}-TWO`))).to.equal(60);
    expect(count(word(long))).to.equal(180);
    expect(count(word(`${long}-one`, true))).to.equal(3540);
    expect(count(word(long), word(`${long}-one`, true))).to.equal(120);
    expect(count(word('other', true), word(long, true))).to.equal(180);
    expect(count(word('lala'.repeat(50)))).to.equal(60);
    expect(count(word('lala'.repeat(61)))).to.equal(0);
    expect(count(word(`${'é'.repeat(100)}`))).to.equal(60);
    replica.close();
  });

  it('finds the words of a long text, and forgets them with it', () => {
    const replica = new Replica({ identity: 'test' });
    const prose = 'concert evening open '.repeat(900);
    const many = Array.from({ length: 40_000 }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7919) % 20_000))).join('');
    upsert(replica, [event(1, { searchText: `${prose} last` }), event(2, { searchText: `first ${many} last` })]);
    const find = (text: string) =>
      listEvents(replica.db, { words: [{ text, not: false }], order: 'start', limit: 5, offset: 0 }).ids;
    expect(find('last')).to.deep.equal([1]);
    expect(find('first')).to.deep.equal([2]);
    upsert(replica, [event(1, { searchText: prose }), event(2)]);
    expect([find('last'), find('first')]).to.deep.equal([[], []]);
    replica.close();
  });

  it('looks at the part of a text that takes a few milliseconds to add to the index', () => {
    const text = 'concert evening open '.repeat(950);
    expect(searchedText(text)).to.equal(text);
    expect(searchedText(text.repeat(2))).to.have.length(20_000);
  });

  it('ignores case and accents in searches, and takes other characters literally', () => {
    const replica = new Replica({ identity: 'test' });
    upsert(replica, [
      event(1, { searchText: 'Le Café d’Été, Straße' }),
      event(2, { searchText: '100% sure_thing' }),
      event(3, { searchText: '<b>zeb</b>ra' }),
    ]);
    const find = (text: string, not = false) =>
      listEvents(replica.db, {
        words: [{ text, not }],
        order: 'start',
        limit: 9,
        offset: 0,
      }).ids;
    // The search runs over the HTML source.
    expect(find('cafe')).to.deep.equal([1]);
    expect(find('ÉTÉ')).to.deep.equal([1]);
    expect(find('strasse')).to.deep.equal([1]);
    expect(find('STRAßE')).to.deep.equal([1]);
    expect(find('0%')).to.deep.equal([2]);
    expect(find('1%')).to.deep.equal([]);
    expect(find('_')).to.deep.equal([2]);
    expect(find('sure thing')).to.deep.equal([]);
    expect(find('zebra')).to.deep.equal([]);
    expect(find('zeb')).to.deep.equal([3]);
    expect(find('<b>')).to.deep.equal([3]);
    expect(find('cafe', true)).to.deep.equal([2, 3]);
    replica.close();
  });
});
