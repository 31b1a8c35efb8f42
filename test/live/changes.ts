// Every kind of change to a site, made as users make it: in wp-admin, with WP-CLI, or in a plugin's PHP.

import { setTimeout as sleep } from 'node:timers/promises';
import { BULK, type Fixtures } from './fixtures.ts';
import type { WpAdmin } from './wp-admin.ts';

/** An event in the gateway's public lists. */
export interface ListedEvent {
  id: number;
  title: string;
  slug: string;
  start_date: string;
  utc_start_date: string;
  cost: string;
  venue: { id: number; venue: string } | [];
  categories: { id: number; name: string }[];
  image: { id: number; url: string; width: number } | false;
}

/** A gateway's current lists, from its replica: lists never call the CMS. */
export interface CalendarView {
  event(id: number): Promise<ListedEvent | undefined>;
  /** Total of a list. */
  total(query: string): Promise<number>;
}

export interface ChangedSite {
  admin: WpAdmin;
  /** Runs WP-CLI and returns its trimmed output. */
  wp(...args: string[]): Promise<string>;
  /** Runs PHP as a plugin does, with wp-admin's functions. */
  php(code: string): Promise<string>;
  /** Makes every polling gateway poll. */
  pollAll(): Promise<void>;
  ids: Fixtures;
}

export interface Change {
  kind: string;
  how: string;
  /**
   * `scan`: changes no date and no total, so that polling shows it only after a scan. `no webhook`:
   * triggers no webhook.
   */
  visibleAfter?: 'scan' | 'scan, no webhook';
  /** Affects more than one page of a list: its webhook may take more than a second. */
  mass?: true;
  /** Makes the change. Returns a function that checks if a gateway shows it. */
  apply(site: ChangedSite): Promise<(view: CalendarView) => Promise<boolean>>;
}

const EDITOR = "wp-admin, block editor's request";
const QUICK_EDIT = 'wp-admin, Quick Edit';
const ROW = "wp-admin, link of the list's row";
const NAMED = 'Renamed in the list';
const venueOf = (event: ListedEvent | undefined) => (event && 'venue' in event.venue ? event.venue.venue : undefined);

const shows =
  (id: number, isExpected: (event: ListedEvent | undefined) => boolean) =>
  async (view: CalendarView): Promise<boolean> =>
    isExpected(await view.event(id));

const META = { start_date: '2033-03-04 10:00:00', end_date: '2033-03-04 12:00:00' };

/** In an order in which no change hides another one. */
/** To make two changes within one second. They take less than half a minute. */
const MAX_ATTEMPTS = 8;

export const CHANGES: readonly Change[] = [
  {
    kind: 'creation',
    how: EDITOR,
    async apply({ admin }) {
      const id = await admin.addNew('calendar_event');
      await admin.editor('POST', `events/${id}`, { title: 'Made', status: 'publish', meta: META });
      return shows(id, (event) => event?.title === 'Made');
    },
  },
  {
    kind: 'creation dated back',
    how: 'WP-CLI, post create',
    async apply({ wp }) {
      const post = ['--post_type=calendar_event', '--post_title=Old', '--post_status=publish', '--porcelain'];
      const meta = `--meta_input=${JSON.stringify(META)}`;
      const id = Number(await wp('post', 'create', ...post, '--post_date=2011-01-01 10:00:00', meta));
      return shows(id, (event) => event?.title === 'Old');
    },
  },
  {
    kind: 'edit',
    how: EDITOR,
    async apply({ admin, ids }) {
      const id = ids.events.edited!;
      await admin.editor('POST', `events/${id}`, { title: 'Edited' });
      return shows(id, (event) => event?.title === 'Edited');
    },
  },
  {
    kind: 'edit of the date',
    how: "wp-admin, the companion plugin's form",
    async apply({ admin, ids }) {
      const id = ids.events.dated!;
      await admin.detailsForm(id, { start_date: '2033-03-04 11:00:00', end_date: '2033-03-04 12:00:00' });
      return shows(id, (event) => event?.start_date === '2033-03-04 11:00:00');
    },
  },
  {
    kind: 'two changes in one second, with a poll between them',
    how: EDITOR,
    async apply({ admin, ids, pollAll }) {
      const id = ids.events.twice!;
      for (let attempt = 1; ; attempt += 1) {
        await sleep(1000 - (Date.now() % 1000) + 5);
        const first = await admin.editor('POST', `events/${id}`, { title: `First ${attempt}` });
        await pollAll();
        const second = await admin.editor('POST', `events/${id}`, { title: `Second ${attempt}` });
        const isOneSecond = first.modified_gmt === second.modified_gmt;
        // On a slow machine the polls alone take longer than a second.
        if (!isOneSecond && attempt < MAX_ATTEMPTS) continue;
        if (!isOneSecond) process.stderr.write('live: the site is too slow for two changes in one second\n');
        return shows(id, (event) => event?.title === `Second ${attempt}`);
      }
    },
  },
  {
    kind: 'slug change',
    how: QUICK_EDIT,
    async apply({ admin, ids }) {
      const id = ids.events.slug!;
      await admin.quickEdit('calendar_event', id, {
        post_title: 'Event slug',
        post_name: 'other-slug',
        _status: 'publish',
      });
      return shows(id, (event) => event?.slug === 'other-slug');
    },
  },
  {
    kind: 'unpublished',
    how: QUICK_EDIT,
    async apply({ admin, ids }) {
      const id = ids.events.unpublished!;
      await admin.quickEdit('calendar_event', id, { post_title: 'Event unpublished', _status: 'draft' });
      return shows(id, (event) => event === undefined);
    },
  },
  {
    kind: 'scheduled publication',
    how: "wp-admin's request schedules it, WP-CLI runs the due cron events",
    async apply({ admin, wp }) {
      const date = new Date(Date.now() + 4_000).toISOString().slice(0, 19);
      const body = { title: 'Scheduled', status: 'future', date_gmt: date, meta: META };
      const { id } = await admin.editor('POST', 'events', body);
      await sleep(4_000);
      // A visit may trigger the site's cron first: the time counts from the publication.
      const cron = wp('cron', 'event', 'run', '--due-now').catch(() => '');
      while ((await admin.editor('GET', `events/${id}`)).status !== 'publish') await Promise.race([cron, sleep(20)]);
      return shows(id, (event) => event?.title === 'Scheduled');
    },
  },
  {
    kind: 'trash',
    how: ROW,
    async apply({ admin, ids }) {
      await admin.rowAction('calendar_event', ids.events.trashed!, 'trash');
      return shows(ids.events.trashed!, (event) => event === undefined);
    },
  },
  {
    kind: 'restored from the trash and published',
    how: `${ROW}, then Quick Edit`,
    async apply({ admin, ids }) {
      const id = ids.events.trashed!;
      await admin.rowAction('calendar_event', id, 'untrash', 'trash');
      await admin.quickEdit('calendar_event', id, { post_title: 'Back', _status: 'publish' });
      return shows(id, (event) => event?.title === 'Back');
    },
  },
  {
    kind: 'deleted for good',
    how: 'WP-CLI, post delete --force',
    async apply({ wp, ids }) {
      await wp('post', 'delete', String(ids.events.deleted), '--force');
      return shows(ids.events.deleted!, (event) => event === undefined);
    },
  },
  {
    kind: 'deleted for good from the trash',
    how: ROW,
    async apply({ admin, ids }) {
      const id = ids.events.deletedFromTrash!;
      await admin.rowAction('calendar_event', id, 'trash');
      await admin.rowAction('calendar_event', id, 'delete', 'trash');
      return shows(id, (event) => event === undefined);
    },
  },
  {
    kind: 'term renamed',
    how: QUICK_EDIT,
    async apply({ admin, ids }) {
      await admin.renameTerm('event_category', ids.terms.renamed!, { name: NAMED, slug: 'renamed-in-the-list' });
      return shows(ids.events['in renamed']!, (event) => event?.categories[0]?.name === NAMED);
    },
  },
  {
    kind: 'term merged into another',
    how: 'PHP, wp_delete_term with another term as default',
    async apply({ php, ids: { terms, events } }) {
      const into = `['default' => ${terms.into}, 'force_default' => true]`;
      await php(`wp_delete_term(${terms.merged}, 'event_category', ${into});`);
      return shows(events['in merged']!, (event) => event?.categories[0]?.id === terms.into);
    },
  },
  {
    kind: 'term deleted',
    how: "wp-admin, the list's Delete",
    async apply({ admin, ids }) {
      await admin.deleteTerm('event_category', ids.terms.deleted!);
      return shows(ids.events['in deleted']!, (event) => event?.categories.length === 0);
    },
  },
  {
    kind: 'venue edited, shown in its event',
    how: EDITOR,
    async apply({ admin, ids }) {
      await admin.editor('POST', `venues/${ids.venues.edited}`, { title: 'Hall' });
      return shows(ids.events['at edited']!, (event) => venueOf(event) === 'Hall');
    },
  },
  {
    kind: 'venue trashed while an event refers to it',
    how: ROW,
    async apply({ admin, ids }) {
      await admin.rowAction('calendar_venue', ids.venues.trashed!, 'trash');
      return shows(ids.events['at trashed']!, (event) => event !== undefined && venueOf(event) === undefined);
    },
  },
  {
    kind: 'venue deleted for good while an event refers to it',
    how: 'WP-CLI, post delete --force',
    async apply({ wp, ids }) {
      await wp('post', 'delete', String(ids.venues.deleted), '--force');
      return shows(ids.events['at deleted']!, (event) => event !== undefined && venueOf(event) === undefined);
    },
  },
  {
    kind: 'featured image set',
    how: EDITOR,
    async apply({ admin, ids }) {
      await admin.editor('POST', `events/${ids.events.pictured}`, { featured_media: ids.images.set });
      return shows(ids.events.pictured!, (event) => event?.image !== false && event?.image.id === ids.images.set);
    },
  },
  {
    kind: 'image replaced',
    how: 'PHP, as plugins for that do: another file, then wp_update_post',
    async apply({ php, ids }) {
      const id = ids.images.replaced!;
      await php(`
        $path = wp_upload_dir()['path'] . '/' . uniqid('another-') . '.png';
        imagepng(imagecreatetruecolor(90, 70), $path);
        update_attached_file(${id}, $path);
        wp_update_attachment_metadata(${id}, wp_generate_attachment_metadata(${id}, $path));
        wp_update_post(['ID' => ${id}, 'post_title' => 'another']);`);
      return shows(ids.events['with replaced']!, (event) => event?.image !== false && event?.image.width === 90);
    },
  },
  {
    kind: 'image turned, without touching `modified`',
    how: 'wp-admin, Edit Image',
    visibleAfter: 'scan',
    async apply({ admin, ids }) {
      await admin.turnImage(ids.images.turned!);
      return shows(ids.events['with turned']!, (event) => event?.image !== false && event?.image.width === 40);
    },
  },
  {
    kind: 'image deleted',
    how: ROW,
    async apply({ admin, ids }) {
      await admin.rowAction('attachment', ids.images.deleted!, 'delete');
      return shows(ids.events['with deleted']!, (event) => event?.image === false);
    },
  },
  {
    kind: 'meta changed without touching `modified`',
    how: 'WP-CLI, post meta update',
    visibleAfter: 'scan',
    async apply({ wp, ids }) {
      await wp('post', 'meta', 'update', String(ids.events.meta), 'cost', '12');
      return shows(ids.events.meta!, (event) => event?.cost.includes('12') === true);
    },
  },
  {
    kind: 'term given without touching `modified`',
    how: 'WP-CLI, post term set',
    visibleAfter: 'scan',
    async apply({ wp, ids }) {
      await wp('post', 'term', 'set', String(ids.events.given), 'event_category', String(ids.terms.given), '--by=id');
      return shows(ids.events.given!, (event) => event?.categories[0]?.id === ids.terms.given);
    },
  },
  {
    kind: `${BULK} events edited, more than a page, while others are made and trashed`,
    how: `PHP, a loop of wp_update_post; ${EDITOR}`,
    mass: true,
    async apply({ php, admin, ids }) {
      const loop = php(`
        $posts = get_posts(['post_type' => 'calendar_event', 's' => 'bulk', 'numberposts' => -1, 'fields' => 'ids']);
        foreach ($posts as $id) wp_update_post(['ID' => $id, 'post_title' => "Loop $id"]);`);
      for (let n = 0; n < 6; n += 1) {
        const { id } = await admin.editor('POST', 'events', { title: `Beside ${n}`, status: 'publish', meta: META });
        if (n % 2 === 0) await admin.editor('DELETE', `events/${id}`);
        await sleep(100);
      }
      await admin.editor('POST', `events/${ids.events.edited}`, { title: 'Edited beside' });
      await loop;
      const query = 'start_date=2000-01-01&end_date=2040-01-01&per_page=1&search=';
      return async (view) => (await view.total(`${query}Loop`)) === BULK && (await view.total(`${query}Beside`)) === 4;
    },
  },
  {
    kind: 'the site moved to another time zone',
    how: 'WP-CLI, option update timezone_string',
    visibleAfter: 'scan, no webhook',
    async apply({ wp, ids }) {
      await wp('option', 'update', 'timezone_string', 'Asia/Tokyo');
      return shows(ids.events.zoned!, (event) => event?.utc_start_date === '2033-03-04 01:00:00');
    },
  },
];
