// The wp-config.php of a sandbox site.

import { createHash } from 'node:crypto';

/** SQLite through WordPress's drop-in, or a MariaDB server of its own. */
export type DatabaseKind = 'sqlite' | 'mariadb';

export interface SiteSettings {
  port: number;
  timezone: string;
  permalinks: 'pretty' | 'plain';
  database: DatabaseKind;
  /** Random text for the keys and salts. */
  secret: string;
}

const KEYS = ['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'].flatMap((name) => [`${name}_KEY`, `${name}_SALT`]);

const PERMALINKS = { pretty: '/%postname%/', plain: '' };

/**
 * The text of wp-config.php. It keeps constants that the PHP runtime defines before.
 * @param rulesMark changes whenever WordPress must rebuild the rewrite rules
 * @param socket of the MariaDB server
 */
export function wpConfig(state: SiteSettings, rulesMark: string, socket: string): string {
  const url = siteUrl(state.port);
  const options = { timezone_string: state.timezone, permalink_structure: PERMALINKS[state.permalinks] };
  const values: Record<string, string | number | boolean> = {
    DB_NAME: 'wordpress',
    DB_USER: state.database === 'mariadb' ? 'root' : '',
    DB_PASSWORD: '',
    DB_HOST: state.database === 'mariadb' ? `localhost:${socket}` : '',
    DB_CHARSET: 'utf8mb4',
    DB_COLLATE: '',
    ...Object.fromEntries(KEYS.map((key) => [key, derived(state.secret, key)])),
    WP_HOME: url,
    WP_SITEURL: url,
    // over plain http WordPress offers application passwords only on a local site
    WP_ENVIRONMENT_TYPE: 'local',
    WP_DEBUG: true,
    WP_DEBUG_DISPLAY: false,
    WP_DEBUG_LOG: false,
    WP_MEMORY_LIMIT: '256M',
    // no requests to other servers; the sandbox calls wp-cron.php once a minute, which publishes scheduled posts
    WP_HTTP_BLOCK_EXTERNAL: true,
    WP_ACCESSIBLE_HOSTS: '127.0.0.1,localhost',
    DISABLE_WP_CRON: true,
    AUTOMATIC_UPDATER_DISABLED: true,
    WP_AUTO_UPDATE_CORE: false,
    DISALLOW_FILE_EDIT: true,
    CONCATENATE_SCRIPTS: false,
    SANDBOX_OPTIONS: JSON.stringify(options),
    SANDBOX_RULES: rulesMark,
  };
  const lines = Object.entries(values).map(
    ([name, value]) => `defined( '${name}' ) || define( '${name}', ${php(value)} );`,
  );
  return `<?php
// Written by the sandbox at every start: it overwrites changes.
${lines.join('\n')}
defined( 'DB_DIR' ) || define( 'DB_DIR', rtrim( dirname( __DIR__ ), '/' ) . '/database' );

$table_prefix = 'wp_';

if ( ! defined( 'ABSPATH' ) ) {
	define( 'ABSPATH', __DIR__ . '/' );
}
require_once ABSPATH . 'wp-settings.php';
`;
}

export function siteUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function php(value: string | number | boolean): string {
  return typeof value === 'string' ? `'${value.replace(/['\\]/g, '\\$&')}'` : String(value);
}

function derived(secret: string, name: string): string {
  return createHash('sha256').update(`${secret} ${name}`).digest('base64url');
}
