// A value that WordPress refuses: the error names the parameters that are stored at the path which WordPress names.

import { expect } from 'chai';
import { rejection } from '../../src/cms/wordpress/rejections.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { mappingWith } from '../mapping/samples.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

/** As `init` proposes it for a site with a day, a time of the start and a time of the end. */
const DAY = { at: 'meta.day', format: 'Y-m-d' };
const MAPPING = mappingWith(
  {
    start_date: { parts: [DAY, { at: 'meta.begins', format: 'H:i' }] },
    end_date: { parts: [DAY, { at: 'meta.ends', format: 'H:i' }] },
    cost: { at: 'meta.price', as: { ticket: { option: 'meta.ticket' } } },
    website: { at: 'meta.details', json: 'website' },
    venue: 'meta.venue',
  },
  { venue: { posts: 'venues', fields: { address: 'meta.street' } } },
);
const EVENT = { title: 'Party', start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

describe('a value that the CMS refuses', () => {
  let gateway: TestGateway;
  /** The title, or the key of `meta`, that the CMS refuses. */
  let refused: string;

  before(async () => {
    const cms = createFakeCms(() => Date.UTC(2027, 0, 1));
    gateway = await startGateway({ cms, mapping: MAPPING, service: CREDENTIALS.admin, as: CREDENTIALS });
    cms.onWrite = () => {
      const params = refused === 'title' ? { title: 'No.' } : { meta: `meta.${refused} is not one of the choices.` };
      const data = { status: 400, params };
      throw rejection({ status: 400, json: { code: 'rest_invalid_param', message: 'No.', data } }, 'POST', '/events');
    };
  });
  after(() => gateway.stop());

  const namesOf = async (key: string, sent: object): Promise<string[]> => {
    refused = key;
    const { status, body } = await gateway.request('/events', { as: 'admin', json: { ...EVENT, ...sent } });
    expect([status, body.code]).to.deep.equal([400, 'rest_invalid_param']);
    return Object.keys(body.data.params);
  };

  it('is named by the field of which it is one of several keys', async () => {
    expect(await namesOf('begins', {})).to.deep.equal(['start_date']);
    expect(await namesOf('ends', {})).to.deep.equal(['end_date']);
    expect(await namesOf('ticket', { cost: 'Free' })).to.deep.equal(['cost']);
  });

  it('is named by both fields that share a key', async () => {
    expect(await namesOf('day', {})).to.have.members(['start_date', 'end_date']);
  });

  it('is named by the field that is inside a JSON text', async () => {
    expect(await namesOf('details', { website: 'https://club.example' })).to.deep.equal(['website']);
  });

  it('is named by the field that the request did not send, if it sent none that is stored there', async () => {
    refused = 'ticket';
    const { status, body } = await gateway.request('/events', { as: 'admin', json: EVENT });
    expect([status, body.code, body.message]).to.deep.equal([400, 'rest_invalid_param', 'Invalid parameter(s): cost']);
    const reason = 'No value was sent, and the site refuses what the record has there without one.';
    expect(body.data.params).to.deep.equal({ cost: reason });
    const blank = await gateway.request('/events', { as: 'admin', json: { ...EVENT, cost: '' } });
    expect(blank.body.data.params).to.deep.equal({ cost: reason });
  });

  it('is named by the parameter of the title if it is the title', async () => {
    expect(await namesOf('title', {})).to.deep.equal(['title']);
    const { body } = await gateway.request('/venues', { as: 'admin', json: { venue: 'Hall' } });
    expect(body.data.params).to.have.all.keys('venue');
  });

  it('is not named if no parameter is stored there, whatever its name', async () => {
    for (const key of ['other', 'constructor', 'toString']) expect(await namesOf(key, {}), key).to.deep.equal([]);
  });

  it('is the address that a new venue lacks: of the venue alone, and in the body of an event', async () => {
    refused = 'street';
    const alone = await gateway.request('/venues', { as: 'admin', json: { venue: 'Hall' } });
    expect([alone.status, alone.body.code]).to.deep.equal([400, 'rest_invalid_param']);
    expect(alone.body.data.params).to.have.all.keys('address');
    const json = { ...EVENT, venue: { venue: 'Hall' } };
    const within = await gateway.request('/events', { as: 'admin', json });
    expect([within.status, within.body.code]).to.deep.equal([400, 'could-not-create-venue']);
  });
});
