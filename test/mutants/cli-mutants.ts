// Mutants of the commands, the log and the companion plugin.

import { type Mutant, mutantsOf } from './mutant.ts';

export const CLI_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('src/config-schema.ts', 'test/config.test.ts', {
    'the admin port is on loopback': {
      code: "default: '127.0.0.1'",
      replacement: "default: '0.0.0.0'",
      title: 'the documented defaults',
    },
  }),
  ...mutantsOf('src/cli/plugin/companion-plugin.ts', 'test/php/companion-plugin.test.ts', {
    'a second installed companion plugin does nothing': {
      function: 'companionPlugin',
      code: "if (!\\\\defined(__NAMESPACE__ . '\\\\\\\\TYPES'))",
      replacement: 'if (true)',
      title: 'second copy',
    },
  }),
  ...mutantsOf('src/cli/plugin/created-records.php', 'test/php/created-records.test.ts', {
    'an invisible record is not reported as missing': {
      code: 'if ($records && !$visible) {',
      replacement: 'if (false) {',
      title: 'is an error, not missing',
    },
  }),
  ...mutantsOf('src/cli/plugin/registration.php', 'test/php/companion-plugin.test.ts', {
    'the companion plugin registers no key that a plugin registered for all types': {
      code: " || \\registered_meta_key_exists($object, $key, '')",
      title: 'registers no key that is registered already',
    },
    'the companion plugin waits until plugins have registered their keys': {
      code: '}, 98);',
      replacement: '}, 1);',
      title: 'registers no key that is registered already',
    },
    'the companion plugin keeps one row per value if the plugin does': {
      code: "$definition['type'] === 'array' && has_plain_rows($object, $key)",
      replacement: 'false',
      title: 'never makes one row of a list',
    },
  }),
  ...mutantsOf('src/cli/serve.ts', 'test/process/serve.test.ts', {
    'a second signal exits immediately': {
      function: 'serve',
      code: 'void nextSignal().then(() => process.exit(1));',
      title: 'second SIGTERM',
    },
  }),
  ...mutantsOf('src/gateway.ts', 'test/process/serve.test.ts', {
    '/ready is 503 while draining': {
      code: 'isDraining: () => this.#stopping !== undefined,',
      replacement: 'isDraining: () => false,',
      title: 'finishes all requests',
    },
  }),
  ...mutantsOf('src/observability/log.ts', 'test/observability/log.test.ts', {
    'the log removes credentials from every text': {
      function: 'redactCredentials',
      code: ".replace(/\\b(basic|bearer)\\s+[A-Za-z0-9+/_=.~-]{6,}/gi, '$1 (removed)')",
      title: 'credentials',
    },
  }),
  ...mutantsOf('src/observability/metrics.ts', 'test/faults/cms-faults.test.ts', {
    'the state of the circuit breaker is a metric': {
      function: 'createMetrics',
      code: 'Math.max(..._1.values())',
      replacement: '0',
      title: 'does not call the CMS while the circuit breaker is open, and says so',
    },
  }),
];
