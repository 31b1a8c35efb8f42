// Posts and terms: pages, writes, the trash, and every kind of refusal.

import { refused, type Scene } from '../scene.ts';

export const scene: Scene = {
  name: 'collections',
  async run({ upstream, as }) {
    const admin = { credentials: as.admin };
    const fields = { _fields: 'id,status,title.raw,meta.website', context: 'edit' };

    const ids: number[] = [];
    for (const title of ['One', 'Two & a half', 'Drei „Ü“']) {
      const made = await upstream.create(
        'events',
        { title, status: 'publish', meta: { website: 'https://x.example/?a=1&b=2' } },
        admin,
      );
      ids.push(Number(made.id));
    }
    const [first = 0, second = 0] = ids;
    await upstream.list('events', { per_page: 2, page: 1, ...fields, status: 'publish,draft' }, admin);
    await upstream.list('events', { per_page: 2, page: 2, _fields: 'id' });
    await upstream.list('events', { per_page: 2, page: 3, _fields: 'id' });
    await upstream.read('events', first, fields, admin);
    await upstream.update('events', first, { title: 'One again' }, admin);
    await upstream.exists(first);

    await upstream.remove('events', first, { force: false }, admin);
    await refused(upstream.remove('events', first, { force: false }, admin));
    await upstream.remove('events', second, { force: true }, admin);
    await refused(upstream.read('events', second, {}, admin));
    await upstream.exists(second);

    await refused(upstream.create('events', { title: 'x', status: 'publish' }, {}));
    await refused(upstream.create('events', { title: 'x', status: 'publish' }, { credentials: as.subscriber }));
    await refused(upstream.create('events', {}, admin));
    await refused(upstream.create('events', { title: 'x', status: 'no-such-status' }, admin));
    await refused(upstream.list('events', { per_page: 101 }));
    await refused(upstream.list('events', { context: 'edit' }));
    await refused(upstream.list('events', { status: 'draft' }));
    await refused(upstream.list('no-such-base', {}));

    const term = await upstream.create('event_categories', { name: 'Café & Bar' }, admin);
    await refused(upstream.create('event_categories', { name: 'Café & Bar' }, admin));
    await refused(upstream.create('event_categories', { name: 'x' }, {}));
    await upstream.list('event_categories', { per_page: 100, page: 1, _fields: 'id,name,slug' });
    await upstream.list('event_categories', { per_page: 100, page: 2, _fields: 'id,name,slug' });
    await upstream.remove('event_categories', Number(term.id), { force: false }, admin);
  },
};
