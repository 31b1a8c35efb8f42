// What a real plugin's module declares. To add a plugin, add two files, which `run.ts` finds by their names:
//
// - `SLUG.php` fills the site: WP-CLI runs it as the administrator after the plugin's activation. It calls the plugin's own PHP API, and
//   prints one line of JSON: the ids that the checks need, by name (`site.ids`).
// - `SLUG.ts` exports `plugin: PluginTest`. SLUG is the plugin's folder. A check fails by throwing, and judges by the plugin: its tables
//   and meta rows (`site.rows`, `site.php`), its REST API (`site.wordpress`), its rendered pages (`site.page`).
//
// For each site the runner activates the plugin, fills the site, runs `init`, installs the companion plugin,
// runs `check` (with `--write` if the mapping is writable) and `serve`. It adds the checks that hold for
// every plugin: `init` recognizes the mapping, `check` finds no failure. The checks of `webhook` run last,
// with a gateway that does not poll.

import type { Role } from '../../sandbox/site.ts';
import type { CliResult } from '../live/cli-process.ts';
import type { Json, JsonRequest, JsonResponse } from '../live/json-client.ts';
import type { GatewayProcess } from '../start-gateway.ts';

/** The columns of the table, in order. */
export const COLUMNS = ['recognised', 'read', 'written', 'shown', 'webhook', 'series'] as const;
export type Column = (typeof COLUMNS)[number];

export interface PluginTest {
  /**
   * The mapping that `init` must recognize; undefined if it must refuse the site: then all other columns are
   * reasons.
   */
  mapping: string | undefined;
  /** One site for each. Default: one with a block theme. */
  sites?: readonly SiteOptions[];
  /** Changes the copy of the plugin before its activation, such as files that its build would make. */
  prepare?(pluginFolder: string): void;
  /** WP-CLI commands after the activation, such as what its first page in wp-admin does. */
  setup?: readonly (readonly string[])[];
  /** Checks by title, or the reason why the column does not apply (n.a.). */
  columns: Readonly<Record<Column, Checks | string>>;
}

/** All columns but the first, of a site that `init` must refuse. */
export const refused = (reason: string): Readonly<Record<Exclude<Column, 'recognised'>, string>> => ({
  ...{ read: reason, written: reason, shown: reason, webhook: reason, series: reason },
});

export interface SiteOptions {
  /** In the table, behind the plugin's name. */
  name: string;
  theme: 'block' | 'classic';
  /** The folder of the server that WordPress is in, such as `/blog`. Default: its root. */
  folder?: string;
  /** Whether `check` runs. Default: true. */
  isChecked?: false;
}

export type Checks = Readonly<Record<string, (site: PluginSite) => Promise<void>>>;

/** A site with the plugin, and a gateway in front of it. */
export interface PluginSite {
  options: SiteOptions;
  /** Without a trailing slash. */
  url: string;
  /** What SLUG.php printed. */
  ids: Readonly<Record<string, number>>;
  init: CliResult;
  /** Of `check --json`; undefined if `init` refused the site. */
  check: CliResult | undefined;
  /** It does not run if `init` refused the site. */
  gateway: GatewayProcess;
  /**
   * Calls the gateway below its mount: reads anonymously, and writes as the administrator, unless `as` says
   * otherwise.
   */
  request<T = Json>(path: string, options?: PluginRequest): Promise<JsonResponse<T>>;
  /** Calls the site below `/wp-json/`, as the administrator unless `as` says otherwise. */
  wordpress<T = Json>(path: string, options?: PluginRequest): Promise<JsonResponse<T>>;
  /** The visible text of a page of the site, anonymously, on one line. */
  page(path: string): Promise<{ status: number; text: string }>;
  /** Runs the body of a PHP function as the administrator (WP-CLI). Resolves with what it returns. */
  php<T = unknown>(body: string): Promise<T>;
  /** Key and value of every row of a post's meta, as the database has them. */
  rows(postId: number): Promise<[string, string][]>;
  /** Waits until the gateway has polled the site after this call. */
  nextPoll(): Promise<void>;
  /** Restarts the gateway with further settings. It then reads the description of the site. `intervalS`: between polls; default 2. */
  restartGateway(intervalS?: number, env?: Readonly<Record<string, string>>): Promise<void>;
  /** Installs the companion plugin, or removes it. */
  setCompanionPlugin(isInstalled: boolean): void;
}

export type PluginRequest = Omit<JsonRequest, 'authorization'> & {
  as?: Role | 'anonymous' | undefined;
  /** Of the gateway; default `/calendar/events/v1`. */
  mount?: string;
};
