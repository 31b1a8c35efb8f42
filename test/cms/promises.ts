// What the CMS port promises, one check per promise. Every implementation must pass all of them, in this order, on
// a site that has none of the checks' records yet.

import { expect } from 'chai';
import { type CmsRecord, type ListRequest, MEDIA } from '../../src/cms/port.ts';
import { CmsRejected, CmsUnavailable } from '../../src/errors.ts';
import { parseZone } from '../../src/time/zones.ts';
import { pngOf } from '../png.ts';
import { expectRejected, idsOf, type Promised } from './contract-context.ts';

const PNG = { bytes: pngOf(40, 30), mimeType: 'image/png', filename: 'contract.png' };

export const PROMISES: readonly Promised[] = [
  {
    name: 'the site has an address and a time zone',
    async check(context) {
      context.site = await context.cms.site();
      expect(context.site.url).to.match(/^https?:\/\/.*[^/]$/);
      expect(parseZone(context.site.timezone)).to.not.equal(undefined);
    },
  },
  {
    name: 'an account has an id and the permissions that the actions on a collection need',
    async check(context) {
      const { cms, admin, subscriber, event, category } = context;
      const ofAdmin = await cms.account(admin);
      const ofSubscriber = await cms.account(subscriber);
      context.adminId = ofAdmin.userId;
      expect(ofAdmin.userId).to.be.above(0).and.not.equal(ofSubscriber.userId);
      expect([ofAdmin.mayUpload, ofSubscriber.mayUpload]).to.deep.equal([true, false]);
      const { permissions: ofEvents } = await cms.collectionInfo(event, admin);
      const { permissions: ofTerms } = await cms.collectionInfo(category, admin);
      for (const permission of [ofEvents!.edit, ofEvents!.editOthers, ofEvents!.publish, ofTerms!.manageTerms]) {
        expect(ofAdmin.permissions.has(permission), permission).to.equal(true);
        expect(ofSubscriber.permissions.has(permission), permission).to.equal(false);
      }
    },
  },
  {
    name: 'wrong credentials are rejected, and a scheme that the CMS ignores is named as such',
    async check({ cms, wrong, admin }) {
      await expectRejected(cms.account(wrong), 'unauthenticated');
      await expectRejected(cms.account({ credentials: 'Bearer x' }), 'unknown-scheme', 'unauthenticated', 'forbidden');
      expect(cms.readLogin(admin.credentials)).to.not.equal(undefined);
      expect(cms.readLogin('x')).to.equal(undefined);
    },
  },
  {
    name: 'the CMS tells whether an account exists',
    async check({ cms, admin, adminId }) {
      expect(await cms.accountExists(adminId, admin)).to.equal(true);
      expect(await cms.accountExists(999_999, admin)).to.equal(false);
    },
  },
  {
    name: 'a collection that the CMS does not have is none of its own',
    async check({ cms, missing, event }) {
      expect(await cms.hasCollection(event)).to.equal(true);
      expect(await cms.hasCollection(missing)).to.equal(false);
      await expectRejected(cms.list(missing, { view: 'public' }), 'no-collection');
    },
  },
  {
    name: 'a create returns the record with id, status and modification time',
    async check(context) {
      const { cms, event, admin } = context;
      for (const name of ['One', 'Two', 'Three', 'Four', 'Five']) {
        const created = await cms.create(event, context.body(`Contract ${name}`), admin);
        const { title, status, start } = event.read(created, context.site);
        expect({ title, status, start }).to.deep.equal({
          ...{ title: `Contract ${name}`, status: 'publish', start: '2031-05-01 10:00:00' },
        });
        expect(created.modifiedUtc).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
        context.ids.push(Number(created.id));
      }
      const ascending = [...new Set(context.ids)].sort((a, b) => a - b);
      expect(context.ids, 'later records have higher ids').to.deep.equal(ascending);
    },
  },
  {
    name: 'a scan by id reads every record once, with exact totals',
    async check({ list, listOwn, ids }) {
      const scanned: number[] = [];
      for (const offset of [0, 2, 4]) {
        const page = await listOwn({ order: 'id', limit: 2, offset });
        expect(page.total).to.equal(ids.length);
        scanned.push(...idsOf(page.records));
      }
      expect(scanned).to.deep.equal(ids);
      const newestFirst = await listOwn({ order: '-id', limit: 2, page: 2 });
      expect(idsOf(newestFirst.records)).to.deep.equal([ids[2], ids[1]]);
      expect((await list({ ids })).total).to.equal(ids.length);
    },
  },
  {
    name: 'a page has a multiple of ten records, so that pages of ten and of one go on after it',
    async check({ cms }) {
      expect(cms.maxPageSize % 10).to.equal(0);
    },
  },
  {
    name: 'a page after the last one is empty',
    async check({ listOwn }) {
      expect((await listOwn({ order: 'id', limit: 2, page: 9, detail: 'id' })).records).to.deep.equal([]);
    },
  },
  {
    name: 'a scan by modification has the latest change first, by a clock that the page tells',
    async check(context) {
      const { cms, event, admin, ids, listOwn } = context;
      await context.wait(2_000);
      const before = await listOwn({ order: '-modified', detail: 'stamp' });
      await cms.update(event, ids[1]!, event.write({ title: 'Contract Two again' }, { site: context.site }), admin);
      const after = await listOwn({ order: '-modified', detail: 'stamp' });
      expect(after.records[0]!.id).to.equal(ids[1]);
      const newest = String(after.records[0]!.modifiedUtc);
      expect(newest > String(before.records[0]!.modifiedUtc)).to.equal(true);
      expect(after.cmsTimeMs).to.be.at.least(before.cmsTimeMs);
      expect(Math.abs(after.cmsTimeMs - Date.parse(`${newest.replace(' ', 'T')}Z`))).to.be.below(60_000);
    },
  },
  {
    name: 'a list since a modification leaves out its own second and what is older',
    async check({ listOwn, ids }) {
      const modifiedAfterUtc = async (id: number) => {
        const { records } = await listOwn({ ids: [id], detail: 'time' });
        return String(records[0]!.modifiedUtc);
      };
      const since = async (id: number) =>
        idsOf((await listOwn({ order: 'id', modifiedAfterUtc: await modifiedAfterUtc(id) })).records);
      expect(await since(ids[4]!)).to.deep.equal([ids[1]]);
      expect(await since(ids[1]!)).to.deep.equal([]);
    },
  },
  {
    name: 'details limit the fields, and keep id, status and modification time',
    async check({ cms, event, listOwn, ids }) {
      const first = async (detail: NonNullable<ListRequest['detail']>) =>
        (await listOwn({ ids: [ids[0]!], detail })).records[0]!;
      expect(Object.keys(await first('id'))).to.deep.equal(['id']);
      expect(await first('time')).to.include.keys('id', 'modifiedUtc');
      expect(await first('stamp')).to.include({ id: ids[0], status: 'publish' });
      expect(await first('slug')).to.deep.include({ id: ids[0], slug: 'contract-one' });
      const mapped = await first('mapped');
      const { recordForm } = cms;
      for (const path of recordForm.certainPaths(event, 'mapped'))
        expect(recordForm.hasPath(mapped, path), path).to.equal(true);
      expect(recordForm.hasPath({}, 'id')).to.equal(false);
    },
  },
  {
    name: 'records are listed by ids, and missing ids are left out',
    async check({ list, ids }) {
      expect(idsOf((await list({ ids: [ids[3]!, 999_999, ids[0]!], order: 'id' })).records)).to.deep.equal([
        ids[0],
        ids[3],
      ]);
    },
  },
  {
    name: 'a record is found by its slug and by its author',
    async check({ list, listOwn, ids, adminId }) {
      expect(idsOf((await list({ slug: 'contract-three' })).records)).to.deep.equal([ids[2]]);
      expect((await list({ slug: 'contract-none' })).records).to.deep.equal([]);
      expect((await listOwn({ author: adminId })).total).to.equal(ids.length);
      expect((await listOwn({ author: 999_999 })).total).to.equal(0);
    },
  },
  {
    name: 'a missing record is not found',
    async check({ cms, event, admin }) {
      await expectRejected(cms.read(event, 999_999, { view: 'public' }), 'not-found');
      await expectRejected(cms.read(event, 999_999, { view: 'editor' }, admin), 'not-found');
      expect(await cms.isIdTaken(999_999)).to.equal(false);
    },
  },
  {
    name: 'a draft is shown to its editors only',
    async check(context) {
      const { cms, event, admin, subscriber, list } = context;
      const created = await cms.create(event, context.body('Contract Draft', 'draft'), admin);
      context.draft = Number(created.id);
      const ids = [context.draft];
      expect((await cms.read(event, context.draft, { view: 'editor' }, admin)).status).to.equal('draft');
      expect((await list({ view: 'editor', statuses: 'any', ids }, admin)).total).to.equal(1);
      expect((await list({ ids })).records).to.deep.equal([]);
      expect((await list({ view: 'reader', ids }, subscriber)).records).to.deep.equal([]);
      await expectRejected(cms.read(event, context.draft, { view: 'public' }), 'not-visible', 'not-found');
      await expectRejected(cms.read(event, context.draft, { view: 'reader' }, subscriber), 'not-visible', 'not-found');
    },
  },
  {
    name: 'what editors see of public records is refused to others',
    async check({ cms, event, ids, list, subscriber }) {
      for (const as of [{}, subscriber]) {
        await expectRejected(list({ view: 'editor', statuses: 'any' }, as), 'forbidden', 'invalid', 'not-visible');
        await expectRejected(cms.read(event, ids[0]!, { view: 'editor' }, as), 'forbidden', 'not-visible');
      }
      await expectRejected(list({ statuses: ['draft'] }), 'forbidden', 'invalid');
    },
  },
  {
    name: 'an update changes what it names and nothing else',
    async check({ cms, event, ids, admin, site }) {
      const before = event.read(await cms.read(event, ids[0]!, { view: 'editor' }, admin), site);
      const body = event.write({ title: 'Contract One again' }, { site });
      const after = event.read(await cms.update(event, ids[0]!, body, admin), site);
      const { start, end, slug, author, dateUtc, status } = before;
      expect(after).to.deep.include({ title: 'Contract One again', start, end, slug, author, dateUtc, status });
    },
  },
  {
    name: 'a create is rejected without permission and with invalid values, and writes nothing',
    async check(context) {
      const { cms, event, admin, subscriber } = context;
      const body = context.body('Contract Rejected');
      await expectRejected(cms.create(event, body, {}), 'forbidden', 'unauthenticated');
      await expectRejected(cms.create(event, body, subscriber), 'forbidden');
      await expectRejected(cms.create(event, {}, admin), 'invalid');
      const wrongStatus = await expectRejected(
        cms.create(event, context.body('X', 'no-such-status'), admin),
        'invalid',
      );
      expect(wrongStatus.fields).to.include(event.writtenPathsByProperty.get('status')![0]);
      expect((await context.list({ slug: 'contract-rejected' })).total).to.equal(0);
    },
  },
  {
    name: 'a create with a key is found by its key, or the CMS cannot know',
    async check(context) {
      const { cms, event, admin } = context;
      const creationKey = 'ab'.repeat(32);
      const { id } = await cms.create(event, context.body('Contract Key', 'draft'), { ...admin, creationKey });
      const found = await cms.findCreated(creationKey, admin);
      const gatewayIds = found?.map(({ id: cmsId }) => cms.gatewayId(event, cmsId));
      expect(gatewayIds).to.be.deep.oneOf([undefined, [id]]);
      await cms.delete(event, Number(id), admin);
    },
  },
  {
    name: 'a deletion between two pages shows: the page from the last record read no longer begins with it',
    async check({ cms, event, ids, admin, listOwn }) {
      const first = await listOwn({ order: 'id', limit: 2, offset: 0 });
      const last = idsOf(first.records)[1];
      const [deleted] = ids.splice(0, 1);
      await cms.delete(event, deleted!, admin);
      const next = await listOwn({ order: 'id', limit: 2, offset: 1 });
      expect(idsOf(next.records)[0]).to.be.above(last!);
      expect(next.total).to.equal(first.total - 1);
      await expectRejected(cms.read(event, deleted!, { view: 'editor' }, admin), 'not-found');
    },
  },
  {
    name: 'a record in the trash is listed with all statuses only, and is trashed once; or there is no trash',
    async check({ cms, event, ids, admin, list }) {
      const trash = () => cms.trash(event, ids[0]!, admin);
      const of = async (statuses: 'any' | 'all') =>
        (await list({ view: 'editor', statuses, ids: [ids[0]!] }, admin)).records;
      const trashed = await trash().catch((error: unknown) => error);
      if (trashed instanceof CmsRejected) expect(trashed).to.include({ kind: 'no-trash', written: 'no' });
      else {
        expect((trashed as CmsRecord).status).to.equal('trash');
        expect(await of('any')).to.deep.equal([]);
        expect((await of('all')).map(({ status }) => status)).to.deep.equal(['trash']);
        expect((await list({ ids: [ids[0]!] })).records).to.deep.equal([]);
        await expectRejected(trash(), 'in-trash');
      }
    },
  },
  {
    name: 'terms are created once per name, are unused until a record has them, and have no trash',
    async check(context) {
      const { cms, category, event, ids, admin, subscriber, site } = context;
      const name = 'Contract & Term';
      const body = category.write({ name }, { site });
      await expectRejected(cms.create(category, body, subscriber), 'forbidden');
      const term = await cms.create(category, body, admin);
      const id = Number(term.id);
      expect(category.read(term, site).name.replace('&amp;', '&')).to.equal(name);
      const conflict = await expectRejected(cms.create(category, body, admin), 'conflict');
      expect(conflict.existingId).to.equal(id);
      const { records } = await cms.list(category, { view: 'public', ids: [id], detail: 'mapped' });
      expect(idsOf(records)).to.deep.equal([id]);
      await cms.update(event, ids[1]!, event.write({ categories: [id] }, { site }), admin);
      await expectRejected(cms.trash(category, id, admin), 'no-trash');
      await cms.delete(category, id, admin);
      await expectRejected(cms.read(category, id, { view: 'public' }), 'not-found');
    },
  },
  {
    name: 'images are uploaded with permission, listed by modification, and found by id and address',
    async check(context) {
      const { cms, admin, subscriber } = context;
      const uploaded = await cms.upload(PNG, admin);
      context.image = uploaded.id;
      expect(await cms.images([uploaded.id, 999_999])).to.deep.equal([uploaded]);
      expect(await cms.findImage(uploaded.url, admin)).to.equal(uploaded.id);
      const newest: ListRequest = { view: 'public', order: '-modified', limit: 1, detail: 'time' };
      const { records, total } = await cms.list(MEDIA, newest, admin);
      expect(idsOf(records)).to.deep.equal([uploaded.id]);
      expect(total).to.be.at.least(1);
      await expectRejected(cms.upload(PNG, {}), 'forbidden', 'unauthenticated');
      await expectRejected(cms.upload(PNG, subscriber), 'forbidden');
      const script = { bytes: Buffer.from('<?php'), mimeType: 'application/x-php', filename: 'x.php' };
      await expectRejected(cms.upload(script, admin), 'failed', 'invalid', 'forbidden');
      await cms.delete(MEDIA, uploaded.id, admin);
      expect(await cms.images([uploaded.id])).to.deep.equal([]);
    },
  },
  {
    name: 'a call that did not reach the CMS has written nothing',
    async check(context) {
      const { unreachable, event, admin } = context;
      const error = await unreachable.create(event, context.body('X'), admin).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CmsUnavailable).and.to.include({ outcomeUnknown: false });
    },
  },
  {
    name: 'what the checks created can be deleted',
    async check({ cms, event, ids, draft, admin, list }) {
      for (const id of [...ids, draft]) await cms.delete(event, id, admin);
      expect((await list({ view: 'editor', statuses: 'all', ids: [...ids, draft] }, admin)).records).to.deep.equal([]);
    },
  },
];
