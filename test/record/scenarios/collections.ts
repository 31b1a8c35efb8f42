// Posts and terms: pages, writes, the trash, and every kind of error.

import { plainCollection } from '../../../src/cms/port.ts';
import { expectRefusal, type Scenario } from '../scenario.ts';

const EVENTS = { ...plainCollection('events', 'posts'), selectedFields: 'id,status,title.raw,meta.website' };
const CATEGORIES = { ...plainCollection('event_categories', 'terms'), selectedFields: 'id,name,slug' };
const MISSING = plainCollection('no-such-base', 'posts');

export const scenario: Scenario = {
  name: 'collections',
  async run({ cms, as }) {
    const admin = { credentials: as.admin };
    const asEditor = { view: 'editor', detail: 'mapped' } as const;

    const ids: number[] = [];
    for (const title of ['One', 'Two & a half', 'Drei „Ü“']) {
      const created = await cms.create(
        EVENTS,
        { title, status: 'publish', meta: { website: 'https://x.example/?a=1&b=2' } },
        admin,
      );
      ids.push(Number(created.id));
    }
    const [first = 0, second = 0] = ids;
    await cms.list(EVENTS, { ...asEditor, statuses: ['publish', 'draft'], limit: 2, page: 1 }, admin);
    await cms.list(EVENTS, { view: 'public', detail: 'id', limit: 2, page: 2 });
    await cms.list(EVENTS, { view: 'public', detail: 'id', limit: 2, page: 3 });
    await cms.read(EVENTS, first, asEditor, admin);
    await cms.update(EVENTS, first, { title: 'One again' }, admin);
    await cms.isIdTaken(first);

    await cms.trash(EVENTS, first, admin);
    await expectRefusal(cms.trash(EVENTS, first, admin));
    await cms.delete(EVENTS, second, admin);
    await expectRefusal(cms.read(EVENTS, second, { view: 'public' }, admin));
    await cms.isIdTaken(second);

    await expectRefusal(cms.create(EVENTS, { title: 'x', status: 'publish' }, {}));
    await expectRefusal(cms.create(EVENTS, { title: 'x', status: 'publish' }, { credentials: as.subscriber }));
    await expectRefusal(cms.create(EVENTS, {}, admin));
    await expectRefusal(cms.create(EVENTS, { title: 'x', status: 'no-such-status' }, admin));
    await expectRefusal(cms.list(EVENTS, { view: 'public', limit: 101 }));
    await expectRefusal(cms.list(EVENTS, { view: 'editor' }));
    await expectRefusal(cms.list(EVENTS, { view: 'public', statuses: ['draft'] }));
    await expectRefusal(cms.list(MISSING, { view: 'public' }));

    const term = await cms.create(CATEGORIES, { name: 'Café & Bar' }, admin);
    await expectRefusal(cms.create(CATEGORIES, { name: 'Café & Bar' }, admin));
    await expectRefusal(cms.create(CATEGORIES, { name: 'x' }, {}));
    await cms.list(CATEGORIES, { view: 'public', detail: 'mapped', limit: 100, page: 1 });
    await cms.list(CATEGORIES, { view: 'public', detail: 'mapped', limit: 100, page: 2 });
    await cms.delete(CATEGORIES, Number(term.id), admin);
  },
};
