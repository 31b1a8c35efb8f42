// A real WordPress with plugins that show members more than the public: the gateway shows everybody else the
// public view.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../until.ts';
import { calendar, dataDir, request, siteUrl } from './environment.ts';

const PLUGIN = join(dataDir, 'wordpress/wp-content/mu-plugins/members.php');
/** A plugin with members-only contents, titles and a field, and an event hidden from the public. */
const MEMBERS = `<?php
add_shortcode('members', fn($a, $content) => is_user_logged_in() ? $content : '');
add_filter('the_title', fn($title) => is_user_logged_in() ? str_replace('(m)', 'titlesecret', $title) : str_replace('(m)', '', $title));
add_action('init', function () {
  foreach (get_post_types(['show_in_rest' => true]) as $type) {
    add_filter("rest_prepare_$type", function ($response) {
      $data = $response->get_data();
      if (!is_user_logged_in() && isset($data['meta']['website'])) { $data['meta']['website'] = ''; $response->set_data($data); }
      return $response;
    });
  }
}, 99);
add_filter('posts_where', function ($where) {
  $hidden = implode(',', get_option('members_hidden', []));
  return is_user_logged_in() || $hidden === '' ? $where : "$where AND ID NOT IN ($hidden)";
});
add_filter('rest_pre_dispatch', function ($result, $server, $request) {
  if (is_user_logged_in() || !preg_match('#^/wp/v2/events/(\\d+)$#', $request->get_route(), $found)) return $result;
  return in_array((int) $found[1], get_option('members_hidden', []), true) ? new WP_Error('rest_forbidden', 'No.', ['status' => 401]) : $result;
}, 10, 3);
add_action('rest_api_init', fn() => register_rest_route('members/v1', '/hide/(?P<id>\\d+)', [
  'methods' => 'POST', 'permission_callback' => '__return_true',
  'callback' => function ($request) { update_option('members_hidden', [(int) $request['id']]); return true; },
]));
`;

interface Event {
  id: number;
  title: string;
  description: string;
  website: string;
}
type Rest = { id: number; content: { protected: boolean }; meta: Record<string, unknown> };
type Listed = { events: Event[]; total: number };

const wp = `${siteUrl}/wp-json/wp/v2`;
const DATES = { start_date: '2034-05-06 10:00:00', end_date: '2034-05-06 12:00:00' };
const onTheDay = `${calendar}/events?start_date=2034-05-06&end_date=2034-05-06&per_page=50`;
const NAMED = { title: 'Supper (m)', description: 'Open <b>kitchen</b> [members]bodysecret[/members]' };
const META = { start_date: DATES.start_date, end_date: DATES.end_date, timezone: 'UTC' };

describe('records with a password', () => {
  const KEPT = ['start_date', 'end_date', 'all_day', 'timezone', 'hide_from_listings'];
  const FILLED: Record<string, Record<string, unknown>> = {
    venues: { address: '1 Secret St', city: 'Ely', phone: '555', website: 'https://secret.example', show_map: true },
    organizers: { phone: '555', email: 'secret@example.org', website: 'https://secret.example' },
    events: {
      ...META,
      all_day: true,
      cost: '77.77',
      website: 'https://secret.example',
      venue_ids: [1],
      organizer_ids: [1],
    },
  };

  for (const [base, meta] of Object.entries(FILLED))
    it(`show visitors nothing but an event’s dates, in ${base} of the site’s own API`, async () => {
      const json = { title: 'Closed', status: 'publish', password: 'word', meta };
      const created = await request<Rest>(`${wp}/${base}`, { as: 'admin', method: 'POST', json });
      expect(created.status).to.equal(201);
      const url = `${wp}/${base}/${created.body.id}`;
      const shown = { ...created.body.meta, ...meta };
      const single = await request<Rest>(url);
      const list = await request<Rest[]>(`${wp}/${base}?include=${created.body.id}`);
      for (const record of [single.body, list.body[0]!, (await request<Rest>(url, { as: 'subscriber' })).body]) {
        expect(record.content.protected).to.equal(true);
        expect(Object.keys(record.meta)).to.have.members(Object.keys(shown));
        for (const [key, value] of Object.entries(record.meta))
          if (KEPT.includes(key)) expect(value, key).to.deep.equal(shown[key]);
          else expect([[], '', null], key).to.deep.include(value);
      }
      for (const full of [await request<Rest>(`${url}?password=word`), await request<Rest>(url, { as: 'editor' })])
        expect(full.body.meta).to.deep.include(meta);
      await request(`${url}?force=true`, { as: 'admin', method: 'DELETE' });
    });
});

describe('a site that shows members more than the public', () => {
  before(() => writeFileSync(PLUGIN, MEMBERS));
  after(() => rmSync(PLUGIN));

  /** Everything that the gateway shows of the record to an anonymous caller. */
  async function contentOf(id: number): Promise<string> {
    const paths = [onTheDay, `${calendar}/events/${id}`, `${onTheDay}&search=kitchen`];
    const responses = await Promise.all(paths.map((path) => request(path)));
    return JSON.stringify(responses.map(({ body }) => body));
  }

  async function expectPublic(id: number): Promise<void> {
    const text = await contentOf(id);
    expect(text).to.include('kitchen').and.to.not.include('bodysecret').and.to.not.include('titlesecret');
    for (const secret of ['bodysecret', 'members'])
      expect((await request<Listed>(`${onTheDay}&search=${secret}`)).body.total, secret).to.equal(0);
    expect(
      (await request<Listed>(`${onTheDay}&search=${encodeURIComponent('<b>kitchen</b>')}`)).body.total,
    ).to.be.greaterThan(0);
    const open = await request<{ content: { rendered: string }; title: { rendered: string } }>(`${wp}/events/${id}`);
    const single = await request<Event>(`${calendar}/events/${id}`);
    expect(single.body.description).to.equal(open.body.content.rendered.trim());
    expect(single.body.title).to.equal(open.body.title.rendered.trim());
  }

  it('shows everybody its public view, of records written through the gateway and in WordPress', async () => {
    const website = 'https://members.example/';
    const created = await request<Event>(`${calendar}/events`, {
      as: 'editor',
      method: 'POST',
      json: { ...NAMED, ...DATES, website },
    });
    expect(created.status).to.equal(201);
    expect(created.body.description).to.include('bodysecret');
    await expectPublic(created.body.id);
    expect(await contentOf(created.body.id)).to.not.include('members.example');
    const changed = await request<Event>(`${calendar}/events/${created.body.id}`, {
      as: 'author',
      method: 'PATCH',
      json: { website },
    });
    expect(changed.status).to.equal(403);
    const edited = await request<Event>(`${calendar}/events/${created.body.id}`, {
      as: 'editor',
      method: 'PATCH',
      json: { cost: '5' },
    });
    expect(edited.body.description).to.include('bodysecret');
    await expectPublic(created.body.id);
    const { body: written } = await request<Event>(`${wp}/events`, {
      as: 'editor',
      method: 'POST',
      json: { title: NAMED.title, content: NAMED.description, status: 'publish', meta: META },
    });
    const isListed = async () => (await request<Listed>(onTheDay)).body.events.some(({ id }) => id === written.id);
    await until(isListed, 'the event is listed', 10_000);
    await expectPublic(written.id);
  });

  it('lists no event that a plugin hides from the public, also after an editor has read it', async () => {
    const { body } = await request<Event>(`${calendar}/events`, {
      as: 'editor',
      method: 'POST',
      json: { ...NAMED, ...DATES },
    });
    await request(`${siteUrl}/wp-json/members/v1/hide/${body.id}`, { method: 'POST' });
    const edited = await request<Event>(`${calendar}/events/${body.id}`, {
      as: 'editor',
      method: 'PATCH',
      json: { cost: '6' },
    });
    expect(edited.status).to.equal(200);
    expect((await request<Event>(`${calendar}/events/${body.id}`, { as: 'editor' })).status).to.equal(200);
    const ids = async (as?: 'editor') =>
      (await request<Listed>(onTheDay, as ? { as } : {})).body.events.map(({ id }) => id);
    expect(await ids()).to.not.include(body.id);
    expect((await request(`${calendar}/events/${body.id}`)).status).to.equal(403);
    // In lists an editor sees what the public sees, and drafts.
    expect(await ids('editor')).to.not.include(body.id);
  });
});
