// A route that the CMS lacks, because the plugin that brings it is off, is no fault of the caller and no proof that a record is missing.

import { expect } from 'chai';
import { translate } from '../../src/calendar/translate.ts';
import { GatewayError } from '../../src/errors.ts';
import { refusalOf } from '../../src/upstream/wordpress/refusals.ts';

const answer = {
  status: 404,
  headers: {},
  bytes: Buffer.alloc(0),
  json: {
    code: 'rest_no_route',
    message: 'No route was found matching the URL and request method.',
    data: { status: 404 },
  },
};

describe('a route that the CMS lacks', () => {
  for (const kind of ['event', 'venue', 'organizer', 'category', 'tag'] as const) {
    it(`answers 503 and names the route: ${kind}`, () => {
      const told = translate(refusalOf(answer, 'POST /wp/v2/events'), { kind, id: 7, anonymous: false });
      expect(told).to.be.instanceOf(GatewayError);
      const { status, code, message, headers } = told as GatewayError;
      expect({ status, code }).to.deep.equal({ status: 503, code: 'calendar_upstream_away' });
      expect(message).to.contain('POST /wp/v2/events');
      expect(headers).to.have.property('Retry-After');
    });
  }
});
