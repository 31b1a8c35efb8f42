// A term that the site's database refuses: the error names the parameter that sent it.

import { expect } from 'chai';
import { CmsRejected } from '../../src/errors.ts';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { mappingWith } from '../mapping/samples.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const EVENT = { title: 'Party', start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

describe('a term that the database refuses', () => {
  let cms: FakeCms;
  let gateway: TestGateway;

  before(async () => {
    const nowMs = () => Date.UTC(2027, 0, 1);
    cms = createFakeCms(nowMs);
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs });
    // As WordPress with an old database (utf8mb3).
    cms.onWrite = ({ base }, inserted, body) => {
      const texts = [body.name, body.description].map((text) => String(text ?? ''));
      const isRefused = texts.some((text) => /[\u{10000}-\u{10ffff}]/u.test(text)) || texts[0]!.length > 200;
      if (inserted || base === 'events' || !isRefused) return;
      const details = { status: 500, code: 'db_insert_error', fields: ['name'] };
      throw new CmsRejected('failed', 'Could not insert term into the database.', details);
    };
  });
  after(() => gateway.stop());

  const paramsOf = async (path: string, json: object) => {
    const { status, body } = await gateway.request(path, { as: 'admin', json });
    expect([status, body.code]).to.deep.equal([400, 'rest_invalid_param']);
    expect(body.message).to.equal(`Invalid parameter(s): ${Object.keys(body.data.params).join(', ')}`);
    return body.data.params;
  };

  it('is named by the parameter of the event', async () => {
    for (const names of [['jazz', '🎉 party'], ['x'.repeat(201)]])
      for (const parameter of ['tags', 'categories'])
        expect(await paramsOf('/events', { ...EVENT, [parameter]: names })).to.have.keys(parameter);
  });

  it('is named by the name of the term', async () => {
    expect(await paramsOf('/tags', { name: '🎉' })).to.have.keys('name');
    expect((await paramsOf('/categories', { name: 'party', description: '😀' })).name).to.include('emoji');
  });
});

describe('a term that the CMS refuses, whose name the mapping has elsewhere', () => {
  it('is named by the name of the term', async () => {
    const cms = createFakeCms(() => Date.UTC(2027, 0, 1));
    const mapping = mappingWith({}, { tag: { terms: 'tags', fields: { name: 'label' } } });
    const gateway = await startGateway({ cms, mapping, service: CREDENTIALS.admin, as: CREDENTIALS });
    for (const field of ['label', 'colour']) {
      cms.onWrite = () => {
        throw new CmsRejected('invalid', 'No.', { fields: [field] });
      };
      const { status, body } = await gateway.request('/tags', { as: 'admin', json: { name: 'jazz' } });
      expect(status, field).to.equal(400);
      expect(Object.keys(body.data.params ?? {})).to.deep.equal(field === 'label' ? ['name'] : []);
    }
    await gateway.stop();
  });
});
