// What a 400 says about each invalid parameter, beside what the original says.

import { Ajv } from 'ajv';
import { expect } from 'chai';
import { ERROR_SCHEMA } from '../../src/interface/response-schemas.ts';
import { ROUTES } from '../../src/interface/routes.ts';
import { hintOf } from '../../src/interface/validate.ts';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import type { TestGateway } from '../start-gateway.ts';
import { event, venue } from '../store/sample-records.ts';

const DATE = 'This is no date. Write 2027-05-01, 2027-05-01 19:30, today or +1 week.';

describe('hints', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await seededGateway([event(1), venue(6)]);
  });
  after(() => gateway.stop());

  it('say what to write instead of each refused value, beside the fields of the original', async () => {
    const { body } = await gateway.request('/events?start_date=zzz&categories=nope&venue=abc&event_status=odd');
    expect(body).to.deep.equal({
      code: 'rest_invalid_param',
      message: 'Invalid parameter(s): start_date, categories, venue, event_status',
      data: {
        status: 400,
        params: {
          start_date: 'Invalid parameter.',
          categories: 'Invalid parameter.',
          venue: 'Invalid parameter.',
          event_status: 'Invalid parameter.',
        },
        details: [],
        hints: {
          start_date: DATE,
          categories: 'There is no such category. Write ids or slugs that exist, such as 4,music.',
          venue: 'There is no such venue. Write ids that exist, such as 4,7.',
          event_status: 'Not possible: odd. Write one or several of: scheduled, cancelled, postponed, moved_online.',
        },
      },
    });
  });

  it('have types in the schema of errors, as the parameters have', async () => {
    const isError = new Ajv({ strict: false }).compile(ERROR_SCHEMA);
    const answers = [await gateway.request('/events?start_date=zzz'), await gateway.request('/events', { json: {} })];
    for (const { status, body } of answers) {
      expect(status).to.equal(400);
      expect(isError(body), JSON.stringify(isError.errors)).to.equal(true);
    }
    expect(isError({ ...answers[0]!.body, data: { hints: { start_date: 1 } } })).to.equal(false);
    expect(isError({ ...answers[1]!.body, data: { params: 'start_date' } })).to.equal(false);
  });

  it('name the words of an enumeration, in a list and in a body', async () => {
    const list = await gateway.request('/tags?order=up');
    expect(list.body.data.hints).to.deep.equal({ order: 'Write one of: asc, desc.' });
    const json = { title: 'x', start_date: 'soon', end_date: '2027-01-10 12:00:00', status: 'public' };
    const created = await gateway.request('/events', { as: 'editor', json });
    expect(created.body.data.hints).to.deep.equal({
      status: 'Write one of: publish, draft, pending, private, future, trash.',
      start_date: DATE,
    });
  });

  it('are absent where the message says it already', async () => {
    const json = { title: 'x', start_date: '2027-01-10 10:00', end_date: '2027-01-10 12:00', all_day: 'zz' };
    const { body } = await gateway.request('/events', { as: 'editor', json });
    expect(body.data.params).to.deep.equal({ all_day: 'all_day is not of type boolean.' });
    expect(body.data).to.not.have.property('hints');
  });

  it('exist for every parameter that refuses a value', () => {
    const refusing = ROUTES.flatMap(({ endpoints }) => endpoints)
      .flatMap(({ parameters }) => parameters)
      .filter(({ type }) => type.accepts ?? type.verify);
    const without = refusing.filter(({ name, type }) => name !== 'ticketed' && !hintOf(type));
    expect([...new Set(without.map(({ name }) => name))]).to.deep.equal([]);
  });
});
