// Runs the companion plugin in PHP, in a stub of WordPress.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

export const webhook = { webhookUrl: 'http://127.0.0.1:3001/-/changes', webhookSecret: "it's \\ a 'secret'" };

/** Runs PHP code on standard input and gives what it printed. */
export function php(args: string[], code: string): string {
  const { error, status, stdout, stderr } = spawnSync('php', args, { input: code, encoding: 'utf8' });
  if (error) throw new Error('PHP cannot be started: apt-get install php-cli', { cause: error });
  expect(status, stdout + stderr).to.equal(0);
  return stdout;
}

export interface Registered {
  key: string;
  subtype: string;
  type: string;
  /** One row holds the whole value. */
  single: boolean;
  /** An unset key reads as something else than before, for the plugin's own code too. */
  default: boolean;
}

export interface Loaded {
  /** In the order of the calls: those of the plugin come first. */
  registered: Registered[];
  supports: string[];
  /** Options that were written. */
  stored: string[];
}

/**
 * Loads the companion plugin into a stub of WordPress, after another plugin. `rows`: the first value of each
 * meta key in the database.
 */
export function load(code: string, plugin: string, rows: Record<string, string> = {}, copies = 1): Loaded {
  const result = "array('registered' => $registered, 'supports' => $supports, 'stored' => $stored)";
  return evaluate(code, plugin, result, { rows, copies }) as Loaded;
}

/** The constants of the companion plugin. */
export function constants(code: string): Record<string, Record<string, Record<string, unknown>>> {
  const namespace = /^namespace (.+);$/m.exec(code)?.[1];
  const names = ['TYPES', 'TAXONOMIES', ...(code.includes('WEBHOOK_SECRET') ? ['WEBHOOK_SECRET'] : [])];
  const values = names.map((name) => `'${name}' => ${namespace}\\${name}`);
  return evaluate(code, '', `array(${values.join(', ')})`) as ReturnType<typeof constants>;
}

/** Loads the companion plugin likewise, and returns the value of a PHP expression. */
export function evaluate(
  code: string,
  plugin: string,
  expression: string,
  { rows = {}, copies = 1 }: { rows?: Record<string, string>; copies?: number } = {},
): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'calendar-companion-'));
  try {
    const files = Array.from({ length: copies }, (_, at) => join(folder, `${at}.php`));
    for (const file of files) writeFileSync(file, code);
    const stub = readFileSync(join(import.meta.dirname, 'wordpress-stub.php'), 'utf8');
    const list = Object.entries(rows).map(([key, value]) => `'${key}' => '${value}'`);
    return JSON.parse(
      php(
        ['-d', 'display_errors=stderr'],
        `${stub}
const ROWS = array(${list.join(', ')});
${plugin}
${files.map((file) => `require '${file}';`).join('\n')}
apply_filters('init');
apply_filters('rest_api_init');
echo json_encode(${expression});`,
      ),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
