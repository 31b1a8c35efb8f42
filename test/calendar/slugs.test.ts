// Finding a record by its slug: what the gateway remembers of slugs, and what it says while the CMS does not answer.

import { expect } from 'chai';
import { UpstreamAway } from '../../src/errors.ts';
import { type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';
import { type FakeCms, fakeCms } from './fake-cms.ts';

describe('a slug in a path', () => {
  let gateway: GatewayUnderTest;
  afterEach(() => gateway.close());

  async function withCms() {
    const upstream: FakeCms = fakeCms(Date.now);
    gateway = await gatewayUnderTest({ upstream });
    const asked: unknown[] = [];
    const list = upstream.list;
    let away = false;
    upstream.list = async (base, query, options) => {
      if (query.slug !== undefined) asked.push(query.slug);
      if (away) throw new UpstreamAway('timeout', 'no answer');
      return list(base, query, options);
    };
    const isAway = (is: boolean) => {
      away = is;
    };
    return { asked, isAway };
  }

  it('longer than the CMS can store is unknown without a call to the CMS, and not remembered', async () => {
    const { asked } = await withCms();
    for (const slug of ['x'.repeat(201), '%E6%97%A5'.repeat(23), encodeURIComponent('%e6%97%a5'.repeat(23))]) {
      for (const kind of ['events', 'venues', 'organizers']) {
        const { status, body } = await gateway.ask(`/${kind}/by-slug/${slug}`);
        expect([status, body.code], slug).to.deep.equal([400, 'rest_invalid_param']);
        expect(Object.keys(body.data.params)).to.deep.equal(['slug']);
      }
    }
    expect(asked).to.deep.equal([]);
  });

  it('is 503 and not unknown while the CMS does not answer, and is looked up again once it does', async () => {
    const { asked, isAway } = await withCms();
    isAway(true);
    const while_ = await gateway.ask('/events/by-slug/some-event');
    expect([while_.status, while_.body.code]).to.deep.equal([503, 'calendar_upstream_away']);
    isAway(false);
    const after = await gateway.ask('/events/by-slug/some-event');
    expect([after.status, after.body.code]).to.deep.equal([400, 'rest_invalid_param']);
    expect(asked).to.have.length(2);
  });

  it('with half a surrogate pair is unknown and no failure', async () => {
    await withCms();
    const { status } = await gateway.ask('/events/by-slug/x?slug=%ED%A0%80');
    expect(status).to.equal(400);
  });
});
