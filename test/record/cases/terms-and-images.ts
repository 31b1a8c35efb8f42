// Cases for categories, tags and images, on their own routes and as links of events.

import { expect } from 'chai';
import { getRecord } from '../../../src/store/records.ts';
import { pngOf } from '../../png.ts';
import type { Json } from '../../start-gateway.ts';
import { expectError, expectFieldsNamed, expectInvalid, expectMistyped } from '../expectations.ts';
import type { DefineCase, ScenarioContext } from '../gateway-scenario.ts';

const event = { title: 'Linked', start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };
const as = 'admin';
const ids = (list: Json[]) => list.map(({ id }) => id);

export function defineTermsAndImages(define: DefineCase): void {
  let music: Json;
  define('create, read, update and delete a category', async ({ request, create, gateway, cms }) => {
    const { url } = await cms.site();
    const base = 'https://calendar.example/calendar/events/v1';
    const { status, body, headers } = await request('/categories', {
      as,
      json: { name: ' Music  & "q" ', description: 'd <b>x</b> & y' },
    });
    music = body;
    expect(status).to.equal(201);
    expect(headers.location).to.equal(`${base}/categories/${music.id}`);
    expect(music).to.deep.include({
      count: 0,
      name: 'Music &amp; "q"',
      slug: 'music-q',
      taxonomy: 'calendar_events_cat',
      parent: 0,
      meta: [],
      description: 'd <b>x</b> &amp; y',
      url: `${url}/events/category/music-q/`,
      urls: { self: `${base}/categories/${music.id}`, collection: `${base}/categories` },
    });
    expect(music).to.have.property('_links');
    const child = await create('/categories', { name: 'Jazz', parent: music.id });
    expect(child.url).to.equal(`${url}/events/category/music-q/jazz/`);
    expect(child.urls.up).to.equal(`${base}/categories/${music.id}`);
    expect(getRecord(gateway.services.replica.db, 'category', child.id)?.parent).to.equal(music.id);
    expect((await create(`/categories/${child.id}`, { parent: 0 })).parent).to.equal(0);
    expect((await create(`/categories/${child.id}`, { parent: music.id })).parent).to.equal(music.id);
    expect((await create(`/categories/${child.id}`, { parent: child.id })).parent).to.equal(music.id);
    const { body: gone } = await request(`/categories/${music.id}`, { as, method: 'DELETE' });
    expect(gone).to.not.have.property('_links');
    expect(gone.id).to.equal(music.id);
    expect((await request(`/categories/${child.id}`)).body.parent).to.equal(0);
    expectInvalid(await request(`/categories/${music.id}`, { as, method: 'DELETE' }), 'id');
  });

  define('a tag has no parent, and a request may not have one', async ({ request, create, cms }) => {
    const { url } = await cms.site();
    const tag = await create('/tags', { name: 'Free' });
    expect(tag).to.include({ taxonomy: 'post_tag', url: `${url}/tag/free/` });
    expect(tag).to.not.have.property('parent');
    expectError(await request('/tags', { as, json: { name: 'Child', parent: tag.id } }), {
      status: 400,
      code: 'rest_taxonomy_not_hierarchical',
      message: 'Cannot set parent term, taxonomy is not hierarchical.',
    });
  });

  for (const [path, where] of [
    ['/categories', 'with this parent'],
    ['/tags', 'in this taxonomy'],
  ] as const) {
    define(`${path}: a duplicate name is rejected with the id of the term`, async ({ request, create }) => {
      const { id } = await create(path, { name: 'Taken' });
      const { status, body } = await request(path, { as, json: { name: 'tAKEN' } });
      expect({ status, body }).to.deep.equal({
        status: 400,
        body: {
          code: 'term_exists',
          message: `A term with the name provided already exists ${where}.`,
          data: { status: 400, term_id: id },
          additional_data: [id, id],
        },
      });
    });

    define(`${path}: invalid requests are 400, never 500`, async ({ request, create }) => {
      const record = await create(path, { name: 'One of two', slug: `one-${path.slice(1)}` });
      const duplicate = await create(path, { name: 'Two of two', slug: record.slug });
      expect(duplicate.slug).to.equal(`one-${path.slice(1)}-2`);
      expectFieldsNamed(await request(path, { as, json: { name: '   ' } }), 'name');
      expectFieldsNamed(await request(path, { as, json: { name: 'x'.repeat(201) } }), 'name');
      expectFieldsNamed(await request(`${path}/${duplicate.id}`, { as, json: { slug: record.slug } }), 'slug');
      expectInvalid(await request(path, { as, json: { name: 'x', slug: '' } }), 'slug');
      expectInvalid(await request(path, { as, json: { name: 'x', description: 5 } }), 'description');
      expectMistyped(await request(path, { as, json: { name: 'x', description: null } }), { description: 'string' });
      expect((await create(`${path}/${duplicate.id}`, { name: 'One of two' })).name).to.equal('One of two');
    });
  }

  define('the parent of a category must be an existing id', async ({ request, create }) => {
    const { id } = await create('/categories', { name: 'Parent' });
    for (const parent of [0, 999_999, 'no such'])
      expectInvalid(await request('/categories', { as, json: { name: 'x', parent } }), 'parent');
    expectMistyped(await request('/categories', { as, json: { name: 'x', parent: 'parent' } }), { parent: 'integer' });
    expectMistyped(await request('/categories', { as, json: { name: 'x', parent: null } }), { parent: 'integer' });
    expect((await create('/categories', { name: 'Child by text', parent: String(id) })).parent).to.equal(id);
    const sameName = await create('/categories', { name: 'Parent', parent: id });
    expect(sameName.slug).to.equal('parent-parent');
  });

  define(
    'terms of an event by id, slug and name; new names are created, unknown ids are dropped',
    async ({ create }) => {
      const known = await create('/tags', { name: 'Known Tag' });
      const created = await create('/events', {
        ...event,
        tags: [known.id, 'known-tag', 'Brand new', 0, 999_999, -known.id],
        categories: 'Parent, Fresh one',
      });
      expect(created.tags.map((each: Json) => each.name)).to.deep.equal(['Brand new', 'Known Tag']);
      expect(created.categories.map((each: Json) => each.name)).to.have.members(['Parent', 'Fresh one']);
      for (const text of ['known-tag', 'Known Tag', 'KNOWN TAG', String(known.id)])
        expect(ids((await create('/events', { ...event, tags: text })).tags), text).to.deep.equal([known.id]);
      const [entry] = created.tags;
      expect(Object.keys(entry)).to.have.members(
        'name slug term_group term_taxonomy_id taxonomy description parent count filter id urls'.split(' '),
      );
      expect(entry).to.include({ parent: 0, term_group: 0, filter: 'raw', taxonomy: 'post_tag' });
      for (const none of [[], '', [999_999]]) {
        await create(`/events/${created.id}`, { tags: [known.id] });
        expect((await create(`/events/${created.id}`, { tags: none })).tags, JSON.stringify(none)).to.deep.equal([]);
      }
      const kept = await create(`/events/${created.id}`, { categories: null });
      expect(kept.categories).to.have.length(2);
    },
  );

  define('a number among terms is an id without its fraction, and true is the name 1', async ({ create }) => {
    const { id } = await create('/categories', { name: 'Numbered' });
    const created = await create('/events', {
      ...event,
      categories: [id + 0.5, true],
      tags: ['0.5', '-1e9'],
    });
    expect(created.categories.map((each: Json) => each.name)).to.deep.equal(['1', 'Numbered']);
    expect(created.tags).to.deep.equal([]);
  });

  define('objects among terms are rejected by name', async ({ request }) =>
    expectFieldsNamed(await request('/events', { as, json: { ...event, tags: [{ name: 'x' }] } }), 'tags'),
  );

  define('a term counts published events only', async ({ request, create }) => {
    const { id } = await create('/categories', { name: 'Counted' });
    await create('/events', { ...event, categories: [id] });
    await create('/events', { ...event, categories: [id], status: 'draft' });
    expect((await request(`/categories/${id}`)).body.count).to.equal(1);
  });

  const image = async ({ cms, as: users }: ScenarioContext, width: number, height: number, filename: string) =>
    cms.upload({ bytes: pngOf(width, height), mimeType: 'image/png', filename }, { credentials: users.admin });

  define('an image by id, by its URL on the site, and none', async (context) => {
    const { request, create } = context;
    const big = await image(context, 800, 600, 'big.png');
    const small = await image(context, 40, 30, 'small.png');
    const created = await create('/events', { ...event, image: String(big.id) });
    expect(created.image).to.include({ id: big.id, url: big.url, extension: 'png', width: 800, height: 600 });
    expect(created.image.filesize).to.be.a('number');
    expect(created.image.sizes.thumbnail).to.have.keys('width', 'height', 'mime-type', 'filesize', 'url');
    expect(created.image.sizes).to.not.have.property('full');
    expect((await create(`/events/${created.id}`, { cost: 1 })).image.id).to.equal(big.id);
    const other = await create(`/events/${created.id}`, { image: small.url });
    expect(other.image).to.include({ id: small.id }).and.not.have.property('sizes');
    expectMistyped(await request(`/events/${created.id}`, { as, json: { image: big.id } }), { image: 'string' });
    expectInvalid(await request(`/events/${created.id}`, { as, json: { image: String(created.id) } }), 'image');
    const venue = await create('/venues', { venue: 'Pictured', image: String(big.id) });
    expect(venue.image.id).to.equal(big.id);
    expect(await create(`/venues/${venue.id}`, { image: '' })).to.not.have.property('image');
    expect((await request(`/events/${created.id}`)).body.json_ld.image).to.equal(small.url);
  });
}
