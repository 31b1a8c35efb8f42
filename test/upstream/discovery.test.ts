// Shows how the REST interface of a WordPress is found and found again, what its accounts may do, and that nothing is deleted for good where there is no trash.

import { expect } from 'chai';
import { UpstreamAway, UpstreamRefused } from '../../src/errors.ts';
import type { Upstream } from '../../src/upstream/port.ts';
import { createWordPress } from '../../src/upstream/wordpress/wordpress.ts';
import { answerJson, answerText, type StandIn, startStandIn } from '../faults/cms.ts';
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts';

describe('a site of WordPress', () => {
  let cms: StandIn;
  let proxy: FaultProxy;
  let wordpress: Upstream;
  const open = (path: string) => {
    wordpress = createWordPress({ url: new URL(path, proxy.url), observe: () => {}, limits: { retries: 0 } });
  };
  /** A site whose API answers under `root` (`/wp-json/` or `/?rest_route=/`) and that says so, or not. */
  const serve = (root: string, link?: string) => {
    cms.answer = ({ method, url = '' }, response) => {
      if (method === 'HEAD') answerText(response, 200, '', link ? { link } : {});
      else if (!decodeURIComponent(url).startsWith(root)) answerText(response, 404, '<html>not found');
      else if (url.includes('namespaces')) answerJson(response, 200, { namespaces: ['wp/v2'] });
      else answerJson(response, 200, [{ id: 1 }], { 'x-wp-total': '1', 'x-wp-totalpages': '1' });
    };
  };
  const lastAsked = () => decodeURIComponent(cms.seen.at(-1)?.url ?? '');

  beforeEach(async () => {
    cms = await startStandIn();
    proxy = await startFaultProxy(cms.url);
  });
  afterEach(async () => {
    await wordpress.close();
    await proxy.close();
    await cms.close();
  });

  const places: [string, string, string, string | undefined, string][] = [
    ['has its API in its usual place', '/', '/wp-json/', undefined, '/wp-json/wp/v2/posts?page=1'],
    ['has its API below a folder', '/blog', '/blog/wp-json/', undefined, '/blog/wp-json/wp/v2/posts?page=1'],
    ['has its API given by its own address', '/wp-json/', '/wp-json/', undefined, '/wp-json/wp/v2/posts?page=1'],
    ['has its API where permalinks are plain', '/', '/?rest_route=/', undefined, '/?rest_route=/wp/v2/posts&page=1'],
    [
      'has its API by the link, under the public name',
      '/',
      '/api/',
      '<https://public.example/api/>; rel="https://api.w.org/"',
      '/api/wp/v2/posts?page=1',
    ],
    [
      'has its API by a plain link',
      '/',
      '/index.php?rest_route=/',
      '<https://public.example/index.php?rest_route=/>; rel="https://api.w.org/"',
      '/index.php?rest_route=/wp/v2/posts&page=1',
    ],
  ];
  for (const [name, path, root, link, expected] of places) {
    it(name, async () => {
      serve(root, link);
      open(path);
      await wordpress.list('posts', { page: 1 });
      expect(lastAsked()).to.equal(expected);
      const asked = cms.seen.length;
      await wordpress.list('posts', { page: 1 });
      expect(cms.seen).to.have.length(asked + 1); // it is asked for once
    });
  }

  it('is looked for without credentials', async () => {
    serve('/wp-json/');
    open('/');
    await wordpress.list('posts', {}, { credentials: 'Basic eDp5' });
    expect(cms.seen.map(({ headers }) => headers.authorization)).to.deep.equal([undefined, undefined, 'Basic eDp5']);
  });

  it('is asked again when it was away at first', async () => {
    serve('/wp-json/');
    await proxy.set({ kind: 'down' });
    open('/');
    const error = await wordpress.list('posts', {}).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(UpstreamAway).and.to.include({ reason: 'refused' });
    await proxy.set({ kind: 'none' });
    expect((await wordpress.list('posts', {})).total).to.equal(1);
  });

  it('that is none is told', async () => {
    cms.answer = (_request, response) => answerText(response, 200, '<html>some site');
    open('/');
    const error = await wordpress.list('posts', {}).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(UpstreamAway).and.to.include({ reason: 'status' });
    expect((error as Error).message).to.contain('no REST API');
  });

  it('is looked for again when the permalinks have changed', async () => {
    serve('/wp-json/');
    open('/');
    await wordpress.list('posts', {});
    serve('/?rest_route=/');
    await wordpress.list('posts', {}).catch(() => {});
    expect((await wordpress.list('posts', {})).total).to.equal(1);
  });

  it('has accounts with the capabilities that are granted', async () => {
    serve('/wp-json/');
    const usual = cms.answer;
    cms.answer = (request, response) => {
      if (!request.url?.includes('users/me')) return usual(request, response);
      answerJson(response, 200, { id: 3, roles: [], capabilities: { read: true, edit_posts: false } });
    };
    open('/');
    expect(await wordpress.account({})).to.deep.equal({ userId: 3, roles: [], capabilities: new Set(['read']) });
  });

  it('does not lose posts for good where the trash is switched off', async () => {
    serve('/wp-json/');
    const usual = cms.answer;
    cms.answer = (request, response) => {
      if (request.method === 'DELETE') {
        answerJson(response, 501, { code: 'rest_trash_not_supported', message: 'm', data: { status: 501 } });
      } else if (request.url?.includes('taxonomies')) answerJson(response, 200, { tag: { rest_base: 'tags' } });
      else usual(request, response);
    };
    open('/');
    const error = await wordpress.remove('posts', 1, { force: false }, {}).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(UpstreamRefused).and.to.include({ status: 501 });
    expect(cms.seen.filter(({ url }) => url.includes('force'))).to.deep.equal([]);
  });
});
