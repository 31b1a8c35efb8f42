import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../src/config.ts';
import { CONFIG_SCHEMA } from '../src/config-schema.ts';
import { ConfigError } from '../src/errors.ts';

type Rule = {
  description?: string;
  type?: string | readonly string[];
  properties?: Readonly<Record<string, Rule>>;
  default?: unknown;
  enum?: readonly unknown[];
  minLength?: number;
  /** A credential. */
  writeOnly?: boolean;
  items?: Rule;
};

/** The schema of every leaf key: `listen.port` -> its schema. */
function leaves(rule: Rule, path: string[] = []): [string, Rule][] {
  if (!rule.properties) return [[path.join('.'), rule]];
  return Object.entries(rule.properties).flatMap(([key, below]) => leaves(below, [...path, key]));
}
/** Every setting with its schema. */
export const keys = leaves(CONFIG_SCHEMA);

export const SITE = { CALENDAR_UPSTREAM_URL: 'https://site.test' };

/** What its message holds: `LOCATION: REASON`, and the remedy below. */
export function partsOf({ message }: ConfigError) {
  const [, location = '', remedy = ''] = /^(.+?): [^\n]+(?:\n {2}(.+))?$/s.exec(message) ?? [];
  return { message, location, remedy };
}

/** Creates a folder before the tests of the suite, and deletes it afterwards. */
export function configFiles() {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-config-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function file(content: unknown): string {
    const name = join(folder, 'site.json');
    writeFileSync(name, typeof content === 'string' ? content : JSON.stringify(content));
    return name;
  }
  function loadError(options: { file?: string; env?: Record<string, string> }) {
    try {
      loadConfig({ ...options, env: { ...SITE, ...options.env } });
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      const { stack, cause } = error as ConfigError;
      return { ...partsOf(error as ConfigError), stack, cause };
    }
    throw new Error('the configuration was accepted');
  }

  return { folder: () => folder, file, loadError };
}
