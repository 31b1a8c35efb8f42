// The public view merges the responses to the service account and to an anonymous caller, without showing
// more than the latter.

import { expect } from 'chai';
import type { CmsRecord } from '../../src/cms/port.ts';
import { publicView } from '../../src/cms/wordpress/record-form.ts';
import { loadMapping } from '../../src/mapping/load.ts';

const SITE = { url: 'https://cms.example', name: 'Site', timezone: 'UTC' };
const read = (cmsRecord: CmsRecord) => loadMapping('wordpress-meta').kinds.event.read(cmsRecord, SITE);

function responses(raw: string, own: string, open: string, more: { own?: CmsRecord; open?: CmsRecord } = {}) {
  const text = (rendered: string, source?: string) =>
    source === undefined ? { rendered, protected: false } : { rendered, protected: false, raw: source };
  const common = { id: 1, status: 'publish', modified_gmt: '2026-01-01T00:00:00', excerpt: text('', '') };
  return [
    { ...common, title: text('Title', 'Title'), content: text(own, raw), ...more.own },
    { ...common, title: text('Title'), content: text(open), excerpt: text(''), ...more.open },
  ] as const;
}

const merged = (raw: string, own: string, open: string, more = {}, editing = false) =>
  publicView(...responses(raw, own, open, more), { editing });

describe('public view of a published record', () => {
  it('has the content that the CMS rendered for an anonymous caller, and only its words are searchable', () => {
    const record = read(merged('Open [members]hidden[/members]', '<p>Open hidden</p>', '<p>Open</p>'));
    expect(record.description).to.equal('<p>Open</p>');
    expect(record.searchText).to.equal('Title\n<p>Open</p>');
  });

  it('is searchable by the raw text if the public rendering shows all of its words', () => {
    const { searchText } = read(
      merged('<b>Ten</b> o\'clock --- "tea"', '', '<p><b>Ten</b> o&#8217;clock &#8212; &#8220;tea&#8221;</p>'),
    );
    expect(searchText).to.equal('Title\n<b>Ten</b> o\'clock --- "tea"');
  });

  it('is searchable by the rendered text if the raw text has more words', () => {
    const { searchText } = read(merged('[sc]Rock &amp; Roll', '', '<p>Rock &#038; Roll</p>'));
    expect(searchText).to.include('Rock & Roll').and.to.not.include('[sc]');
  });

  it('keeps the raw text of blocks without their comments, whose attributes may hide text', () => {
    const source = '<!-- wp:group {"note":"hidden"} --><p>Open</p><!-- /wp:group -->';
    expect(merged(source, '<p>Open</p>', '<p>Open</p>').content).to.include({ raw: '<p>Open</p>' });
    expect(merged('<p>Open</p><!-- wp:cut', '', '<p>Open</p>').content).to.include({ raw: '<p>Open</p>' });
  });

  it('replaces a raw text that has more words by the rendered text', () => {
    expect(merged('[members]hidden[/members]', '<p>hidden</p>', '<p>Join us</p>').content).to.include({
      raw: '<p>Join us</p>',
    });
  });

  it('has no field that the anonymous response lacks, unless the mapping reads fields for editors', () => {
    const more = { own: { meta: { cost: '5', door_code: '1234' }, extra: 'x' }, open: { meta: { cost: '4' } } };
    expect(merged('a', 'a', 'a', more)).to.not.have.property('extra');
    expect(merged('a', 'a', 'a', more).meta).to.deep.equal({ cost: '4' });
    expect(merged('a', 'a', 'a', more, true)).to.deep.include({ extra: 'x', meta: { cost: '4', door_code: '1234' } });
    expect(merged('a', 'a', 'a', { ...more, open: { meta: [] } }, true).meta).to.deep.equal(more.own.meta);
  });

  it('takes status and modification dates from the account, so that a later change is detected', () => {
    const open = { modified_gmt: '2026-01-01T00:00:09', status: 'publish' };
    expect(merged('a', 'a', 'a', { open }).modified_gmt).to.equal('2026-01-01T00:00:00');
  });

  it('takes only the title of a protected record from the anonymous response', () => {
    const content = { raw: 'hidden', rendered: '<p>hidden</p>', protected: true };
    const cmsRecord = merged('', '', '', { own: { content, title: { raw: 'T', rendered: 'T for editors' } } });
    expect(cmsRecord.content).to.deep.equal(content);
    expect(cmsRecord.title).to.include({ rendered: 'Title' });
  });

  it('takes bounded time for megabytes of raw text', () => {
    const source = '<!-- wp:x '.repeat(200_000);
    expect(merged(source, '', 'words '.repeat(200_000)).content).to.have.property('raw');
  });
});
