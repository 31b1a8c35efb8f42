// Reads of records that are too large for one response of the CMS.

import { expect } from 'chai';
import { createLargeReads } from '../../src/calendar/large-reads.ts';
import { plainCollection } from '../../src/cms/port.ts';
import { CmsUnavailable } from '../../src/errors.ts';
import { interceptCalls } from '../cms/cms-link.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { startGateway } from '../start-gateway.ts';

describe('a record that is too large', () => {
  it('is read from the CMS once, however many request it, by id or by slug', async () => {
    const cms = createFakeCms(() => Date.now());
    let reads = 0;
    let isLarge = false;
    const counted = interceptCalls(cms, (name, call) => {
      if (!isLarge || (name !== 'read' && name !== 'list')) return call();
      reads += 1;
      throw new CmsUnavailable('too-large', 'No.');
    });
    const gateway = await startGateway({ cms: counted, service: CREDENTIALS.admin, as: CREDENTIALS });
    try {
      isLarge = true;
      const { id } = cms.createPost('events', { slug: 'large', status: 'draft' });
      for (const path of [`/events/${id}`, '/events/by-slug/large']) {
        reads = 0;
        for (let n = 0; n < 20; n += 1) {
          const { status, body } = await gateway.request(path, { as: 'admin' });
          expect([status, body.data.reason], path).to.deep.equal([503, 'too-large']);
        }
        expect(reads, path).to.equal(1);
      }
      isLarge = false;
    } finally {
      await gateway.stop();
    }
  });

  it('is forgotten after half a minute, for this view alone, and remembers no other failure', async () => {
    let nowMs = 1;
    const calls: string[] = [];
    let failure: CmsUnavailable | undefined = new CmsUnavailable('too-large', 'No.');
    const read = async (_spec: object, id: number, { view }: { view: string }) => {
      calls.push(`${id} ${view}`);
      if (failure) throw failure;
      return { id };
    };
    const reads = createLargeReads({ read, list: async () => expect.fail() }, () => nowMs);
    const events = plainCollection('events', 'posts');
    const attempt = (id: number, view: 'public' | 'editor') =>
      reads.read(events, id, { view }, {}).catch((error: CmsUnavailable) => error.reason);
    expect(await attempt(1, 'editor')).to.equal('too-large');
    expect(await attempt(1, 'editor')).to.equal('too-large');
    failure = new CmsUnavailable('timeout', 'No.');
    expect(await attempt(1, 'public')).to.equal('timeout');
    failure = undefined;
    expect(await attempt(1, 'public')).to.deep.equal({ id: 1 });
    expect(await attempt(2, 'editor')).to.deep.equal({ id: 2 });
    nowMs += 29_000;
    expect(await attempt(1, 'editor')).to.equal('too-large');
    nowMs += 2000;
    expect(await attempt(1, 'editor')).to.deep.equal({ id: 1 });
    expect(calls).to.deep.equal(['1 editor', '1 public', '1 public', '2 editor', '1 editor']);
  });
});
