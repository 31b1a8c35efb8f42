// A route that the CMS lacks, because its plugin is inactive, is neither the client's error nor proof that a
// record is missing. Refused fields are named by their parameters.

import { expect } from 'chai';
import { cmsToApiError } from '../../src/calendar/cms-errors.ts';
import { rejection } from '../../src/cms/wordpress/rejections.ts';
import { ApiError, CmsRejected } from '../../src/errors.ts';

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

describe('a field that the CMS refuses', () => {
  const paramsOf = (field: string): unknown => {
    const rejected = new CmsRejected('invalid', 'No.', { status: 400, fields: [field] });
    return (cmsToApiError(rejected, { kind: 'venue' }) as ApiError).data?.params;
  };

  it('is named by the parameter of the title if it is the title', () => {
    for (const field of ['title', 'name']) expect(paramsOf(field), field).to.have.all.keys('venue');
  });

  it('is not named if no parameter is stored there, whatever its name', () => {
    for (const field of ['meta.other', 'constructor', 'toString']) expect(paramsOf(field), field).to.deep.equal({});
  });
});
