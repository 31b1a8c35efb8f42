// Preloaded by a gateway process of a test (`--import`): replaces fixed limits by those in TEST_LIMITS, as JSON.

import type { LIMITS } from '../../src/fixed-limits.ts';

type Limits = typeof LIMITS;

const { LIMITS: limits }: { LIMITS: Limits } = process.argv[1]?.includes('dist')
  ? await import(new URL('../../dist/fixed-limits.js', import.meta.url).href)
  : await import('../../src/fixed-limits.ts');
const { upstream, ...sections } = JSON.parse(process.env.TEST_LIMITS ?? '{}');
Object.assign(limits.upstream.limits, upstream?.limits);
for (const [name, values] of Object.entries(sections)) Object.assign(limits[name as 'limits' | 'cache'], values);
