// Discovery of a site's REST API, account capabilities, and deletes without a trash.

import { expect } from 'chai';
import { type Cms, plainCollection } from '../../src/cms/port.ts';
import { NoRestApi } from '../../src/cms/wordpress/rest-api.ts';
import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import { CmsRejected, CmsUnavailable } from '../../src/errors.ts';
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts';
import { type StubCms, sendJson, sendText, startStubCms } from '../faults/stub-cms.ts';

const POSTS = plainCollection('posts', 'posts');

describe('discovery of a WordPress site', () => {
  let cms: StubCms;
  let proxy: FaultProxy;
  let wordpress: Cms;
  const open = (path: string) => {
    wordpress = createWordPress({ url: new URL(path, proxy.url), observe: () => {}, limits: { retries: 0 } });
  };
  /** A site whose API is at `root` (`/wp-json/` or `/index.php?rest_route=/`). */
  const serve = (root: string) => {
    cms.respond = ({ url = '' }, response) => {
      if (!decodeURIComponent(url).startsWith(root)) sendText(response, 404, '<html>not found');
      else if (url.includes('namespaces')) sendJson(response, 200, { namespaces: ['wp/v2'] });
      else sendJson(response, 200, [{ id: 1 }], { 'x-wp-total': '1', 'x-wp-totalpages': '1' });
    };
  };
  const lastAsked = () => decodeURIComponent(cms.requests.at(-1)?.url ?? '');

  beforeEach(async () => {
    cms = await startStubCms();
    proxy = await startFaultProxy(cms.url);
  });
  afterEach(async () => {
    await wordpress.close();
    await proxy.close();
    await cms.close();
  });

  const places: [string, string, string, string][] = [
    ['has its API in its usual place', '/', '/wp-json/', '/wp-json/wp/v2/posts?page=1'],
    ['has its API below a folder', '/blog', '/blog/wp-json/', '/blog/wp-json/wp/v2/posts?page=1'],
    ['has its API given by its own address', '/wp-json/', '/wp-json/', '/wp-json/wp/v2/posts?page=1'],
    [
      'has its API where permalinks are plain',
      ...(['/', '/index.php?rest_route=/', '/index.php?rest_route=/wp/v2/posts&page=1'] as const),
    ],
    ['has its API where no `index.php` is served', '/', '/?rest_route=/', '/?rest_route=/wp/v2/posts&page=1'],
  ];
  for (const [name, path, root, expected] of places) {
    it(name, async () => {
      serve(root);
      open(path);
      await wordpress.list(POSTS, { view: 'public', page: 1 });
      expect(lastAsked()).to.equal(expected);
      const requestCount = cms.requests.length;
      await wordpress.list(POSTS, { view: 'public', page: 1 });
      expect(cms.requests).to.have.length(requestCount + 1); // discovery runs once
    });
  }

  it('sends no credentials', async () => {
    serve('/wp-json/');
    open('/');
    await wordpress.list(POSTS, { view: 'public' }, { credentials: 'Basic eDp5' });
    expect(cms.requests.map(({ headers }) => headers.authorization)).to.deep.equal([undefined, 'Basic eDp5']);
  });

  it('is repeated after a failure', async () => {
    serve('/wp-json/');
    await proxy.set({ kind: 'down' });
    open('/');
    const error = await wordpress.list(POSTS, { view: 'public' }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(CmsUnavailable).and.to.include({ reason: 'refused' });
    await proxy.set({ kind: 'none' });
    expect((await wordpress.list(POSTS, { view: 'public' })).total).to.equal(1);
  });

  it('fails for a site that is no WordPress', async () => {
    cms.respond = (_request, response) => sendText(response, 200, '<html>some site');
    open('/');
    const error = await wordpress.list(POSTS, { view: 'public' }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(CmsUnavailable).and.to.include({ reason: 'status' });
    expect((error as Error).message).to.contain('no REST API');
    expect(error).to.be.instanceOf(NoRestApi).and.to.have.nested.property('finding.reason', 'no-api');
  });

  it('reports the most telling of several answers', async () => {
    cms.respond = ({ url = '' }, response) => {
      if (url.startsWith('/wp-json')) sendText(response, 404, '<html>nothing');
      else sendText(response, 302, '', { location: 'https://public.example/en/' });
    };
    open('/');
    const error = await wordpress.list(POSTS, { view: 'public' }).catch((thrown: unknown) => thrown);
    expect(error).to.have.nested.property('finding.reason', 'redirect');
    cms.respond = ({ url = '' }, response) =>
      sendText(response, url.startsWith('/index') ? 403 : 404, '<title>\u001b[31mNo\u0007\n  bots</title>');
    const other = await wordpress.list(POSTS, { view: 'public' }).catch((thrown: unknown) => thrown);
    expect(other).to.have.nested.property('finding.reason', 'closed');
    // A page's title goes to terminals and logs.
    expect(other).to.have.nested.property('finding.says').that.includes('(status 403, "[31mNo bots")');
  });

  it('names no target of a redirect that is no web address', async () => {
    for (const location of ['javascript:alert(1)', 'file:///etc/passwd', 'https://', undefined]) {
      cms.respond = (_request, response) => sendText(response, 302, '', location === undefined ? {} : { location });
      open('/');
      const error = await wordpress.list(POSTS, { view: 'public' }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(NoRestApi);
      expect((error as NoRestApi).finding)
        .to.include({ reason: 'no-api' })
        .and.not.have.key('target');
      await wordpress.close();
    }
  });

  it('uses the address that a redirect within the site leads to, since writes follow none', async () => {
    serve('/town/wp-json/');
    const usual = cms.respond;
    cms.respond = (request, response) => {
      const { url = '' } = request;
      if (url.startsWith('/town')) return usual(request, response);
      sendText(response, 301, '', { location: `/town${url}` });
    };
    open('/');
    await wordpress.list(POSTS, { view: 'public', page: 1 });
    expect(cms.requests.at(-1)?.url).to.equal('/town/wp-json/wp/v2/posts?page=1');
    expect(cms.requests.filter(({ url }) => url.includes('posts'))).to.have.length(1);
  });

  it('reads no more than the limit of a response, and finds the reason in a huge page', async () => {
    cms.respond = (_request, response) => sendText(response, 200, `<title>${'<title>'.repeat(300_000)}`);
    open('/');
    const page = await wordpress.list(POSTS, { view: 'public' }).catch((thrown: unknown) => thrown);
    expect(page).to.have.nested.property('finding.says').that.includes('answers with a web page');
    cms.respond = (_request, response) => sendText(response, 200, Buffer.alloc(6_000_000, '{'));
    const huge = await wordpress.list(POSTS, { view: 'public' }).catch((thrown: unknown) => thrown);
    expect(huge).to.have.nested.property('finding.says', 'answers with more than the gateway reads');
  });

  it('is repeated when the permalinks have changed', async () => {
    serve('/wp-json/');
    open('/');
    await wordpress.list(POSTS, { view: 'public' });
    serve('/index.php?rest_route=/');
    await wordpress.list(POSTS, { view: 'public' }).catch(() => {});
    expect((await wordpress.list(POSTS, { view: 'public' })).total).to.equal(1);
  });

  it('reads the granted capabilities of an account', async () => {
    serve('/wp-json/');
    const usual = cms.respond;
    cms.respond = (request, response) => {
      if (!request.url?.includes('users/me')) return usual(request, response);
      sendJson(response, 200, { id: 3, roles: [], capabilities: { read: true, edit_posts: false } });
    };
    open('/');
    const account = { userId: 3, roles: [], permissions: new Set(['read']), mayUpload: false };
    expect(await wordpress.account({})).to.deep.equal(account);
  });

  /** The capabilities that the site names of its posts, and `account` as the account's own. */
  const serveCapabilities = (ofType: unknown, account?: unknown) => {
    serve('/wp-json/');
    const usual = cms.respond;
    cms.respond = (request, response) => {
      const { url = '', method } = request;
      if (url.includes('users/me')) sendJson(response, 200, { id: 3, roles: [], capabilities: account });
      else if (url.includes('v2/types'))
        sendJson(response, 200, { post: { rest_base: 'posts', capabilities: ofType } });
      else if (method === 'OPTIONS') sendJson(response, 200, { endpoints: [] });
      else usual(request, response);
    };
  };
  const NAMES = {
    ...{ edit_posts: 'edit_gigs', edit_others_posts: 'edit_others_gigs' },
    ...{ publish_posts: 'publish_gigs', read_private_posts: 'read_private_gigs' },
  };

  it('believes no answer that lacks the capabilities of an account', async () => {
    for (const capabilities of [undefined, null, [], ['edit_posts'], 'edit_posts']) {
      serveCapabilities(NAMES, capabilities);
      open('/');
      const error = await wordpress.account({}).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CmsUnavailable).and.to.include({ reason: 'incomplete' });
      await wordpress.close();
    }
  });

  it('believes no answer that lacks some names of capabilities', async () => {
    const { publish_posts: _, ...part } = NAMES;
    for (const capabilities of [undefined, null, [], {}, 'edit_gigs', part, { ...NAMES, edit_posts: 7 }]) {
      serveCapabilities(capabilities);
      open('/');
      const error = await wordpress.collectionInfo(POSTS, {}).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CmsUnavailable).and.to.include({ reason: 'incomplete' });
      await wordpress.close();
    }
    serveCapabilities({ ...NAMES, edit_others_posts: false });
    open('/');
    const { permissions } = await wordpress.collectionInfo(POSTS, {});
    // Without `map_meta_cap` the type has no name for these.
    expect(permissions).to.include({ edit: 'edit_gigs', editPublished: 'edit_published_posts' });
    expect(permissions).to.include({ publish: 'publish_gigs', editOthers: 'do_not_allow' });
  });

  it('deletes no post permanently if the trash is disabled', async () => {
    serve('/wp-json/');
    const usual = cms.respond;
    cms.respond = (request, response) => {
      if (request.method === 'DELETE') {
        sendJson(response, 501, { code: 'rest_trash_not_supported', message: 'm', data: { status: 501 } });
      } else if (request.url?.includes('taxonomies')) sendJson(response, 200, { tag: { rest_base: 'tags' } });
      else usual(request, response);
    };
    open('/');
    const error = await wordpress.trash(POSTS, 1, {}).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(CmsRejected).and.to.include({ status: 501 });
    expect(cms.requests.filter(({ url }) => url.includes('force'))).to.deep.equal([]);
  });
});
