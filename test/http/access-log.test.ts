// The route that log and metrics name for each request, also if it fails before it reaches the route.

import { expect } from 'chai';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import type { RequestOptions, TestGateway } from '../start-gateway.ts';
import { event } from '../store/sample-records.ts';

describe('the route of a request in the log', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await seededGateway([event(1)], { pages: { landing: true } });
  });
  after(() => gateway.stop());

  const WRONG = { authorization: `Basic ${btoa('nobody:wrong')}` };
  const json = { title: 'x' };
  const REQUESTS: [path: string, request: RequestOptions, route: string][] = [
    ['/', {}, '200 page /'],
    ['/docs', {}, '200 page /docs'],
    ['/-/assets/page.css', {}, '200 asset'],
    ['/-/assets/icon.svg?v=1', {}, '200 asset'],
    ['/calendar/events/v1/events/1', { headers: WRONG }, '401 read /events/{id}'],
    ['/calendar/events/v1/events', { headers: WRONG, json }, '401 create /events'],
    ['/calendar/events/v1/venues/by-slug/a', { headers: WRONG, json }, '401 update /venues/by-slug/{slug}'],
    ['/calendar/events/v1/events.ics', { headers: WRONG }, '401 calendar /events.ics'],
    ['/calendar/events/v1/nowhere', { headers: WRONG }, '401 none'],
    ['/nowhere', {}, '404 none'],
  ];
  for (const [path, request, wanted] of REQUESTS)
    it(`${path}: ${wanted}`, async () => {
      gateway.observations.length = 0;
      await gateway.requestPath(path, request);
      const seen = gateway.observations.flatMap((each) =>
        each.type === 'request' ? [`${each.status} ${each.route}`] : [],
      );
      expect(seen).to.deep.equal([wanted]);
    });
});
