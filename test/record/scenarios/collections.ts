// Posts and terms: pages, writes, the trash, and every kind of error.

import { expectRefusal, type Scenario } from '../scenario.ts';

export const scenario: Scenario = {
  name: 'collections',
  async run({ cms, as }) {
    const admin = { credentials: as.admin };
    const fields = { _fields: 'id,status,title.raw,meta.website', context: 'edit' };

    const ids: number[] = [];
    for (const title of ['One', 'Two & a half', 'Drei „Ü“']) {
      const created = await cms.create(
        'events',
        { title, status: 'publish', meta: { website: 'https://x.example/?a=1&b=2' } },
        admin,
      );
      ids.push(Number(created.id));
    }
    const [first = 0, second = 0] = ids;
    await cms.list('events', { per_page: 2, page: 1, ...fields, status: 'publish,draft' }, admin);
    await cms.list('events', { per_page: 2, page: 2, _fields: 'id' });
    await cms.list('events', { per_page: 2, page: 3, _fields: 'id' });
    await cms.read('events', first, fields, admin);
    await cms.update('events', first, { title: 'One again' }, admin);
    await cms.exists(first);

    await cms.remove('events', first, { force: false }, admin);
    await expectRefusal(cms.remove('events', first, { force: false }, admin));
    await cms.remove('events', second, { force: true }, admin);
    await expectRefusal(cms.read('events', second, {}, admin));
    await cms.exists(second);

    await expectRefusal(cms.create('events', { title: 'x', status: 'publish' }, {}));
    await expectRefusal(cms.create('events', { title: 'x', status: 'publish' }, { credentials: as.subscriber }));
    await expectRefusal(cms.create('events', {}, admin));
    await expectRefusal(cms.create('events', { title: 'x', status: 'no-such-status' }, admin));
    await expectRefusal(cms.list('events', { per_page: 101 }));
    await expectRefusal(cms.list('events', { context: 'edit' }));
    await expectRefusal(cms.list('events', { status: 'draft' }));
    await expectRefusal(cms.list('no-such-base', {}));

    const term = await cms.create('event_categories', { name: 'Café & Bar' }, admin);
    await expectRefusal(cms.create('event_categories', { name: 'Café & Bar' }, admin));
    await expectRefusal(cms.create('event_categories', { name: 'x' }, {}));
    await cms.list('event_categories', { per_page: 100, page: 1, _fields: 'id,name,slug' });
    await cms.list('event_categories', { per_page: 100, page: 2, _fields: 'id,name,slug' });
    await cms.remove('event_categories', Number(term.id), { force: false }, admin);
  },
};
