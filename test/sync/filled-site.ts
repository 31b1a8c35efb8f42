// A fake CMS with venues, terms, images and 23 events, and a gateway's sync in front of it.

import { type SiteOptions, type TestSite, testSite } from './test-site.ts';

/** The sync is not started. */
export function filledSite(options: SiteOptions = {}): TestSite {
  const site = testSite(options);
  const { cms } = site;
  const category = cms.createTerm('event_categories');
  cms.createTerm('tags');
  const venue = cms.createPost('venues');
  cms.createPost('organizers');
  const image = cms.createMedia();
  Object.assign(venue, { featured: cms.createMedia().id });
  for (let n = 0; n < 23; n += 1) {
    site.advance(60_000);
    cms.createPost('events', {
      meta: { start_date: '2026-05-01 10:00:00', end_date: '2026-05-01 12:00:00', venue_ids: [venue.id] },
      terms: { event_categories: n % 2 ? [category.id] : [], tags: [] },
      featured: n === 3 ? image.id : 0,
    });
  }
  site.advance(60_000);
  return site;
}

/** The initial sync is complete. */
export async function syncedSite(options?: SiteOptions): Promise<TestSite> {
  const site = filledSite(options);
  site.sync.start();
  await site.sync.whenComplete();
  return site;
}
