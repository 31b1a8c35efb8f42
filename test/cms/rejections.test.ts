// What WordPress's errors mean in the gateway's terms.

import { expect } from 'chai';
import { rejection } from '../../src/cms/wordpress/rejections.ts';

const reject = (status: number, code: string, data: object = {}, method = 'GET') =>
  rejection({ status, json: { code, message: 'No.', data } }, method, '/wp/v2/posts');

describe('a rejection by WordPress', () => {
  for (const [status, code, kind] of [
    [404, 'rest_post_invalid_id', 'not-found'],
    [404, 'rest_term_invalid', 'not-found'],
    [404, 'rest_disabled', 'failed'],
    [404, 'rest_upstream_error', 'failed'],
    [500, 'rest_post_invalid_id', 'failed'],
    [404, 'rest_no_route', 'no-collection'],
    [401, 'rest_forbidden', 'not-visible'],
    [403, 'rest_forbidden', 'not-visible'],
    [400, 'rest_forbidden', 'invalid'],
    [500, 'rest_forbidden', 'failed'],
    [401, 'rest_login_required', 'forbidden'],
    [403, 'rest_cannot_edit', 'forbidden'],
    [401, 'incorrect_password', 'unauthenticated'],
    [401, 'rest_not_logged_in', 'unauthenticated'],
    [400, 'rest_not_logged_in', 'invalid'],
    [500, 'rest_not_logged_in', 'failed'],
    [410, 'rest_already_trashed', 'in-trash'],
    [501, 'rest_trash_not_supported', 'no-trash'],
    [400, 'my_rule', 'invalid'],
    [500, 'db_insert_error', 'failed'],
  ] as const) {
    it(`of status ${status} with the code ${code} is ${kind}`, () => {
      expect(reject(status, code)).to.include({ kind, status, code });
    });
  }

  it('names the invalid fields, and the reasons in its message', () => {
    const rejected = reject(400, 'rest_invalid_param', { params: { meta: 'meta.start is not of type string.' } });
    expect(rejected).to.deep.include({ kind: 'invalid', fields: ['meta', 'meta.start'] });
    expect(rejected.message).to.equal('meta.start is not of type string.');
    expect(reject(400, 'empty_content').fields).to.deep.equal(['title']);
  });

  it('names the required field that was not sent, also in a group', () => {
    const details = { acf: { code: 'rest_property_required', message: '', data: null } };
    for (const [group, field] of [
      ['acf', 'acf.town'],
      ['acf[at]', 'acf.at.town'],
      ['acf[at][hall]', 'acf.at.hall.town'],
    ]) {
      const params = { acf: `town is a required property of ${group}.` };
      expect(reject(400, 'rest_invalid_param', { params, details }).fields).to.deep.equal(['acf', field]);
    }
  });

  it('names the term that has the name already', () => {
    const rejected = reject(400, 'term_exists', { term_id: 7 });
    expect(rejected).to.deep.include({ kind: 'conflict', fields: ['name'], existingId: 7 });
  });

  it('of a read has written nothing', () => {
    expect(reject(500, 'my_fault').written).to.equal('no');
  });

  it('of a write has written nothing only with a code from before the insert', () => {
    for (const code of ['rest_cannot_create', 'rest_missing_callback_param', 'term_exists', 'rest_upload_no_data'])
      expect(reject(400, code, {}, 'POST').written, code).to.equal('no');
    for (const code of ['rest_meta_database_error', 'my_rule', 'rest_invalid_param'])
      expect(reject(400, code, {}, 'POST').written, code).to.equal('unknown');
    expect(reject(400, 'rest_invalid_param', { params: {} }, 'POST').written).to.equal('no');
  });
});
