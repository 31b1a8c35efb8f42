// Event plugins whose events the gateway cannot reach, and how `init` recognizes their sites.

import { wrapText } from '../table.ts';
import { advise } from './advice.ts';
import type { ProbedSite } from './probe.ts';

interface UnsupportedPlugin {
  title: string;
  /** Its folders in wp-content/plugins/, which only administrators see. */
  folders: readonly string[];
  /** The namespaces of its routes, which everybody sees. */
  namespaces: readonly string[];
  /** Its post types and taxonomies in wp/v2. */
  collections: readonly string[];
  /** Why its events cannot be replicated: completes "the gateway cannot serve its events: ...". */
  reason: string;
}

const WIDTH = 116;

/** Observed on WordPress 7.1.1 with the versions in docs/setup.md. */
const UNSUPPORTED_PLUGINS: readonly UnsupportedPlugin[] = [
  {
    title: 'My Calendar',
    folders: ['my-calendar', 'my-calendar-pro'],
    namespaces: ['my-calendar/v1'],
    collections: ['mc-events', 'mc-locations'],
    reason:
      'their dates, places and categories are in database tables of its own (wp_my_calendar ...), its post type is not in the REST API, and its route my-calendar/v1/events lists the public occurrences of some days, not the events that changed',
  },
  {
    title: 'Sugar Calendar',
    folders: ['sugar-calendar', 'sugar-calendar-lite'],
    namespaces: ['sugar-calendar/v1', 'sugar-calendar/setup-wizard/v1'],
    collections: ['sc_event', 'sc_event_category', 'sc_event_tags'],
    reason:
      'their dates are in a database table of its own (wp_sc_events), which no route of the REST API shows; its post type, if it is there at all, has the titles alone',
  },
  {
    title: 'Events Made Easy',
    folders: ['events-made-easy'],
    namespaces: ['events-made-easy/v1'],
    collections: [],
    reason: 'they are in database tables of its own (wp_eme_events ...), which no route of the REST API shows',
  },
  {
    title: 'All-in-One Event Calendar',
    folders: ['all-in-one-event-calendar'],
    namespaces: [],
    collections: ['ai1ec_event'],
    reason: 'their dates are in a database table of its own (wp_ai1ec_events), which no route of the REST API shows',
  },
];

/** The unsupported plugins of a site. */
export function unsupportedPlugins(site: ProbedSite): UnsupportedPlugin[] {
  const collections = [...site.types, ...site.taxonomies].map(({ base }) => base);
  const has = (present: readonly string[], wanted: readonly string[]) => wanted.some((each) => present.includes(each));
  return UNSUPPORTED_PLUGINS.filter(
    (plugin) =>
      has(site.plugins ?? [], plugin.folders) ||
      has(site.namespaces, plugin.namespaces) ||
      has(collections, plugin.collections),
  );
}

/** Folders and namespaces of plugins whose names say that they have events. Those of a bundled mapping are among them. */
export function namedLikeEvents({ plugins = [], namespaces }: ProbedSite): string[] {
  const names = [...plugins, ...namespaces.map((namespace) => namespace.split('/', 1)[0] ?? '')];
  return [...new Set(names)].filter((name) => /event|calendar|kalender/i.test(name) && name !== 'calendar-gateway');
}

/** Why the site is refused, and what else is possible. `names`: of plugins that may have its events. */
export function refusalLines(plugins: readonly UnsupportedPlugin[], names: readonly string[]): string[] {
  const elsewhere = plugins.length > 0 ? advise('other-events') : advise('event-plugins', names);
  return [
    ...plugins.flatMap(({ title, reason }) =>
      wrapText(`This site has its events in ${title}. The gateway cannot serve its events: ${reason}.`, WIDTH),
    ),
    ...[elsewhere, advise('own-types')].flatMap((advice) => wrapText(advice, WIDTH).map((line) => `  ${line}`)),
  ];
}

/** For a site that also has events which the gateway can serve. */
export const unsupportedNote = ({ title }: UnsupportedPlugin): string =>
  `events in ${title} are not served: the gateway cannot reach them`;
