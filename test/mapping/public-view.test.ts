// How the account's answer and the anonymous reader's become one record: nothing but what the public is shown, and the sources of that.

import { expect } from 'chai';
import { loadMapping } from '../../src/mapping/load.ts';
import { publicNative } from '../../src/mapping/public-view.ts';
import type { Native } from '../../src/upstream/port.ts';

const SITE = { url: 'https://cms.example', name: 'Site', timezone: 'UTC' };
const read = (native: Native) => loadMapping('wordpress-meta').kinds.event.read(native, SITE);

function answers(raw: string, own: string, open: string, more: { own?: Native; open?: Native } = {}) {
  const text = (rendered: string, source?: string) => ({
    ...{ rendered, protected: false },
    ...(source === undefined ? {} : { raw: source }),
  });
  const common = { id: 1, status: 'publish', modified_gmt: '2026-01-01T00:00:00', excerpt: text('', '') };
  return [
    { ...common, title: text('Title', 'Title'), content: text(own, raw), ...more.own },
    { ...common, title: text('Title'), content: text(open), excerpt: text(''), ...more.open },
  ] as const;
}

const merged = (raw: string, own: string, open: string, more = {}, editing = false) =>
  publicNative(...answers(raw, own, open, more), { editing });

describe('a published record as the public is shown it', () => {
  it('has the content that the CMS rendered for an anonymous reader, and is found by its words alone', () => {
    const record = read(merged('Open [members]hidden[/members]', '<p>Open hidden</p>', '<p>Open</p>'));
    expect(record.description).to.equal('<p>Open</p>');
    expect(record.searchText).to.equal('Title\n<p>Open</p>');
  });

  it('is found by its source where the public is shown every word of that', () => {
    const { searchText } = read(
      merged('<b>Ten</b> o\'clock --- "tea"', '', '<p><b>Ten</b> o&#8217;clock &#8212; &#8220;tea&#8221;</p>'),
    );
    expect(searchText).to.equal('Title\n<b>Ten</b> o\'clock --- "tea"');
  });

  it('is found by the text of a rendering whose source has more words', () => {
    const { searchText } = read(merged('[sc]Rock &amp; Roll', '', '<p>Rock &#038; Roll</p>'));
    expect(searchText).to.include('Rock & Roll').and.to.not.include('[sc]');
  });

  it('has the source of its blocks without their comments, in which attributes may hide text', () => {
    const source = '<!-- wp:group {"note":"hidden"} --><p>Open</p><!-- /wp:group -->';
    expect(merged(source, '<p>Open</p>', '<p>Open</p>').content).to.include({ raw: '<p>Open</p>' });
    expect(merged('<p>Open</p><!-- wp:cut', '', '<p>Open</p>').content).to.include({ raw: '<p>Open</p>' });
  });

  it('has its rendering for a source that says more, where a mapping reads the source', () => {
    expect(merged('[members]hidden[/members]', '<p>hidden</p>', '<p>Join us</p>').content).to.include({
      raw: '<p>Join us</p>',
    });
  });

  it('has no field that the anonymous answer lacks, unless the mapping reads what editors are shown', () => {
    const more = { own: { meta: { cost: '5', door_code: '1234' }, extra: 'x' }, open: { meta: { cost: '4' } } };
    expect(merged('a', 'a', 'a', more)).to.not.have.property('extra');
    expect(merged('a', 'a', 'a', more).meta).to.deep.equal({ cost: '4' });
    expect(merged('a', 'a', 'a', more, true)).to.deep.include({ extra: 'x', meta: { cost: '4', door_code: '1234' } });
    expect(merged('a', 'a', 'a', { ...more, open: { meta: [] } }, true).meta).to.deep.equal(more.own.meta);
  });

  it('has the status and the dates of change that the account was answered, so that a later change is seen', () => {
    const open = { modified_gmt: '2026-01-01T00:00:09', status: 'publish' };
    expect(merged('a', 'a', 'a', { open }).modified_gmt).to.equal('2026-01-01T00:00:00');
  });

  it('of a protected record takes the title alone from the anonymous answer', () => {
    const content = { raw: 'hidden', rendered: '<p>hidden</p>', protected: true };
    const native = merged('', '', '', { own: { content, title: { raw: 'T', rendered: 'T for editors' } } });
    expect(native.content).to.deep.equal(content);
    expect(native.title).to.include({ rendered: 'Title' });
  });

  it('takes bounded time for a source of megabytes', () => {
    const source = '<!-- wp:x '.repeat(200_000);
    expect(merged(source, '', 'words '.repeat(200_000)).content).to.have.property('raw');
  });
});
