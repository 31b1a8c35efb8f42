// The process: for now only the `snippet` command.

import { parseArgs } from 'node:util';
import { snippet } from './cli/snippet.ts';
import { ConfigError } from './errors.ts';
import { loadMapping } from './mapping/load.ts';

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      mapping: { type: 'string', default: 'wordpress-meta' },
      'notice-url': { type: 'string' },
      'notice-secret': { type: 'string' },
    },
  });
  if (positionals[0] !== 'snippet') throw new ConfigError(positionals[0] ?? 'command', 'is not known', 'Try: snippet');
  const options = {
    ...(values['notice-url'] === undefined ? {} : { noticeUrl: values['notice-url'] }),
    ...(values['notice-secret'] === undefined ? {} : { noticeSecret: values['notice-secret'] }),
  };
  process.stdout.write(snippet(loadMapping(values.mapping), options));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
