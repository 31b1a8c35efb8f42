// The `config` command: the settings with which `serve` would start, without secrets.

import { CONFIG_SCHEMA, type Config } from '../config-schema.ts';

interface Rule {
  properties?: Readonly<Record<string, Rule>>;
  writeOnly?: boolean;
  description?: string;
}
type Values = Readonly<Record<string, unknown>>;

/** In the order of the schema, and without the fixed limits beside them. Of a secret only that it is set. */
export function printedSettings(values: Config): object {
  return settingsBelow(CONFIG_SCHEMA, values as unknown as Values);
}

function settingsBelow(rule: Rule, values: Values): object {
  const shown = Object.entries(rule.properties ?? {}).flatMap(([name, below]) => {
    const value = values[name];
    if (value === undefined) return [];
    if (below.properties) return [[name, settingsBelow(below, value as Values)]];
    return [[name, below.writeOnly ? '(secret)' : value]];
  });
  return Object.fromEntries(shown);
}
