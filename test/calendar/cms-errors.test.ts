// A route that the CMS lacks, because its plugin is inactive, is neither the client's error nor proof that a
// record is missing.

import { expect } from 'chai';
import { cmsToApiError } from '../../src/calendar/cms-errors.ts';
import { rejection } from '../../src/cms/wordpress/rejections.ts';
import { ApiError } from '../../src/errors.ts';

const response = {
  status: 404,
  json: {
    code: 'rest_no_route',
    message: 'No route was found matching the URL and request method.',
    data: { status: 404 },
  },
};

describe('a route that the CMS lacks', () => {
  for (const kind of ['event', 'venue', 'organizer', 'category', 'tag'] as const) {
    it(`is 503, and the error names the route: ${kind}`, () => {
      const error = cmsToApiError(rejection(response, 'POST', '/wp/v2/events'), { kind, id: 7 });
      expect(error).to.be.instanceOf(ApiError);
      const { status, code, message, headers } = error as ApiError;
      expect({ status, code }).to.deep.equal({ status: 503, code: 'calendar_upstream_away' });
      expect(message).to.contain('POST /wp/v2/events');
      expect(headers).to.have.property('Retry-After');
    });
  }
});
