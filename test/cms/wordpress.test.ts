// The WordPress adapter against recorded exchanges: its requests and the records it reads.

import { expect } from 'chai';
import { type Cms, plainCollection } from '../../src/cms/port.ts';
import { WORDPRESS_RECORDS } from '../../src/cms/wordpress/record-form.ts';
import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import { CmsRejected } from '../../src/errors.ts';
import type { RecordingContext } from '../record/scenario.ts';
import { scenario as collections } from '../record/scenarios/collections.ts';
import { scenario as media } from '../record/scenarios/media.ts';
import { pendingMocks, recording, replay, withoutNetwork } from './replay.ts';

const USER = { credentials: 'Basic eDp5' };

const EVENTS = { ...plainCollection('events', 'posts'), selectedFields: 'id,status,title.raw,meta.website' };
const CATEGORIES = { ...plainCollection('event_categories', 'terms'), selectedFields: 'id,name,slug' };
const MISSING = plainCollection('no-such-base', 'posts');

describe('a CMS record of WordPress', () => {
  it('has a positive integer for an id, as number or text', () => {
    const hasId = (id: unknown) => WORDPRESS_RECORDS.hasPath({ id }, 'id');
    for (const id of [7, '7']) expect(hasId(id), String(id)).to.equal(true);
    for (const id of [0, -1, 1.5, '', 'x', null, []]) expect(hasId(id)).to.equal(false);
  });
});

describe('the WordPress adapter', () => {
  withoutNetwork();
  let wordpress: Cms;
  const open = (name: string) => {
    replay(name);
    wordpress = createWordPress({ url: 'http://cms.example/', observe: () => {}, limits: { retries: 0 } });
  };
  afterEach(() => wordpress.close());

  const errorOf = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(CmsRejected);
    return error as CmsRejected;
  };

  describe('site and accounts', () => {
    beforeEach(() => open('site-and-accounts'));

    it("reads the site's URL and time zone", async () => {
      expect(await wordpress.site()).to.deep.equal({
        url: 'http://cms.example',
        name: 'Harbour Town Calendar',
        timezone: 'America/New_York',
      });
    });

    it('reads the account of the credentials', async () => {
      const admin = await wordpress.account(USER);
      expect(admin).to.deep.include({ roles: ['administrator'] });
      expect([...admin.permissions]).to.include.members(['manage_options', 'edit_others_posts', 'upload_files']);
      const subscriber = await wordpress.account(USER);
      expect(subscriber.roles).to.deep.equal(['subscriber']);
      expect([...subscriber.permissions]).to.have.members(['read', 'level_0', 'subscriber']);
    });

    it("keeps the CMS's error code for bad credentials", async () => {
      await wordpress.account(USER);
      await wordpress.account(USER);
      expect(await errorOf(wordpress.account(USER))).to.include({ status: 401, code: 'incorrect_password' });
      expect(await errorOf(wordpress.account(USER))).to.include({ status: 401, code: 'invalid_username' });
      expect(await errorOf(wordpress.account({}))).to.include({ status: 401, code: 'rest_not_logged_in' });
    });

    it("reads a collection's schema, as far as the caller may see it", async () => {
      const events = await wordpress.collectionInfo(EVENTS, USER);
      expect(events.permissions).to.include({ edit: 'edit_posts', editOthers: 'edit_others_posts' });
      expect(events.writableFields).to.include.members([
        'title',
        'content',
        'status',
        'event_categories',
        'meta.start_date',
      ]);
      expect(events.writableFields).to.not.include.members(['id', 'link', 'modified_gmt']);
      const categories = await wordpress.collectionInfo(CATEGORIES, USER);
      expect(categories.permissions).to.include({ manageTerms: 'publish_posts' });
      const unseen = await wordpress.collectionInfo(EVENTS);
      expect(unseen.permissions).to.equal(undefined);
      expect(await errorOf(wordpress.collectionInfo(MISSING, USER))).to.include({
        status: 404,
        kind: 'no-collection',
      });
    });

    it('discovers the API with plain permalinks, and reads a UTC offset as time zone', async () => {
      // Before that WordPress answers /wp-json/ with its front page.
      const plain = recording('site-and-accounts').findIndex(({ path }) => path.startsWith('/index.php'));
      replay('site-and-accounts', plain - 1);
      expect((await wordpress.site()).timezone).to.equal('UTC-3.5');
      expect((await wordpress.list(EVENTS, { view: 'public', limit: 1, detail: 'id' })).records).to.have.length(1);
      expect(pendingMocks()).to.deep.equal([]);
    });
  });

  describe('posts and terms', () => {
    beforeEach(() => open('collections'));

    it('sends exactly the recorded requests', async () => {
      const as = { admin: USER.credentials, subscriber: USER.credentials } as RecordingContext['as'];
      await collections.run({ cms: wordpress, as } as RecordingContext);
      expect(pendingMocks()).to.deep.equal([]);
    });

    it("reads pages with totals and the CMS's clock", async () => {
      const scope = { view: 'editor', statuses: ['publish', 'draft'] } as const;
      const page = await wordpress.list(EVENTS, { ...scope, detail: 'mapped', limit: 2, page: 1 }, USER);
      expect(page.total).to.equal(3);
      expect(page.records.map(({ title }) => title)).to.deep.equal([{ raw: 'Drei „Ü“' }, { raw: 'Two & a half' }]);
      const recorded = recording('collections').find(({ path }) => path.includes('page=1&'));
      expect(new Date(page.cmsTimeMs).toUTCString()).to.equal(recorded?.rawHeaders.date);
    });

    it('reads a page past the end as empty, for posts and terms', async () => {
      expect(await wordpress.list(EVENTS, { view: 'public', detail: 'id', limit: 2, page: 3 })).to.deep.include({
        records: [],
        total: 0,
      });
      const terms = await wordpress.list(CATEGORIES, { view: 'public', detail: 'mapped', limit: 100, page: 2 });
      expect(terms.records).to.deep.equal([]);
    });

    it('trashes a post once', async () => {
      const [id = 0] = deletedIds();
      expect((await wordpress.trash(EVENTS, id, USER)).status).to.equal('trash');
      expect(await errorOf(wordpress.trash(EVENTS, id, USER))).to.include({
        status: 410,
        code: 'rest_already_trashed',
      });
    });

    it('deletes terms permanently', async () => {
      const term = recording('collections').findLast(({ method }) => method === 'DELETE');
      const id = Number(/\d+(?=\?)/.exec(term?.path ?? '')?.[0]);
      await wordpress.delete(CATEGORIES, id, USER);
    });

    it('distinguishes a post of any type from no record', async () => {
      const [first = 0, , second = 0] = deletedIds();
      expect(await wordpress.isIdTaken(first)).to.equal(true);
      expect(await wordpress.isIdTaken(second)).to.equal(false);
    });

    it("keeps the CMS's own error messages", async () => {
      const event = { title: 'x', status: 'publish' };
      expect(await errorOf(wordpress.create(EVENTS, event, {}))).to.include({
        status: 401,
        code: 'rest_cannot_create',
      });
      expect(await errorOf(wordpress.create(EVENTS, event, USER))).to.include({
        status: 403,
        code: 'rest_cannot_create',
      });
      expect(await errorOf(wordpress.create(EVENTS, {}, USER))).to.include({ status: 400, code: 'empty_content' });
      const param = await errorOf(wordpress.create(EVENTS, { title: 'x', status: 'no-such-status' }, USER));
      expect(param).to.include({ status: 400, code: 'rest_invalid_param' });
      expect(new Set(param.fields)).to.deep.equal(new Set(['status']));
      expect(await errorOf(wordpress.list(EVENTS, { view: 'editor' }))).to.include({
        status: 401,
        code: 'rest_forbidden_context',
      });
      expect(await errorOf(wordpress.list(MISSING, { view: 'public' }))).to.include({
        status: 404,
        code: 'rest_no_route',
      });
    });

    it('reads the id of a duplicate term', async () => {
      const term = await wordpress.create(CATEGORIES, { name: 'Café & Bar' }, USER);
      const duplicate = await errorOf(wordpress.create(CATEGORIES, { name: 'Café & Bar' }, USER));
      expect(duplicate).to.include({ status: 400, code: 'term_exists' });
      expect(duplicate.existingId).to.equal(term.id);
    });

    /** In the order of their DELETE requests: trashed, trashed again, deleted permanently. */
    const deletedIds = () =>
      recording('collections')
        .filter(({ method, path }) => method === 'DELETE' && path.includes('/events/'))
        .map(({ path }) => Number(/\/events\/(\d+)/.exec(path)?.[1]));
  });

  describe('images', () => {
    beforeEach(() => open('media'));

    it('asks what the recording asked, and nothing else', async () => {
      const as = { admin: USER.credentials, subscriber: USER.credentials } as RecordingContext['as'];
      await media.run({ cms: wordpress, as } as RecordingContext);
      expect(pendingMocks()).to.deep.equal([]);
    });

    it('reads an image with its derived sizes, and one too small for any', async () => {
      const query = recording('media').find(({ path }) => path.includes('include='))?.path ?? '';
      const ids = decodeURIComponent(/include=([^&]*)/.exec(query)?.[1] ?? '')
        .split(',')
        .map(Number);
      const images = await wordpress.images(ids);
      expect(images.map(({ id }) => id)).to.have.members(ids.slice(0, 2)); // the third does not exist
      const [small, big] = ids.map((id) => images.find((image) => image.id === id));
      expect(small).to.deep.include({ extension: 'png', width: 40, height: 30, sizes: {} });
      expect(big).to.include({ extension: 'png', width: 800, height: 600 });
      expect(big?.filesizeBytes).to.be.above(0);
      expect(big?.url).to.match(/^http:\/\/cms\.example\/wp-content\/uploads\/\d{4}\/\d\d\/Gro-e-big\.png$/);
      expect(big?.sizes).to.have.all.keys('medium', 'thumbnail', 'medium_large');
      expect(big?.sizes.medium).to.include({ width: 300, height: 225, mimeType: 'image/png' });
      expect(big?.sizes.medium?.url).to.match(/Gro-e-big-300x225\.png$/);
    });

    it('returns the error for a file, sent with status 500', async () => {
      const upload = { bytes: Buffer.from('<?php'), mimeType: 'application/x-php', filename: 'x.php' };
      expect(await errorOf(wordpress.upload(upload, USER))).to.include({
        status: 500,
        code: 'rest_upload_sideload_error',
      });
    });
  });
});
