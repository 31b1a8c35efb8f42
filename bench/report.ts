// Benchmark results as a table and as flat JSON.

export interface Figure {
  row: string;
  server: string;
  cpuUs?: number;
  perSecond?: number;
  p99Ms?: number;
  /** CPU time of raw node:http for the same bytes, divided by this server's: 1 is as good as raw. */
  ratio?: number;
  note?: string;
  /** For the JSON: each key ends with its unit, or with `ratio`. */
  values: Record<string, number>;
}

/** What is aimed at, by key of the JSON; `least` or `most`. */
export const TARGETS: Record<string, { min: number } | { max: number }> = {
  list50_hit_cpu_ratio: { min: 0.7 },
  event_hit_cpu_ratio: { min: 0.5 },
  event_304_cpu_ratio: { min: 0.45 },
  list50_miss_cpu_ratio: { min: 0.15 },
  aged_list50_hit_cpu_ratio: { min: 0.7 },
  aged_event_hit_cpu_ratio: { min: 0.5 },
  aged_event_304_cpu_ratio: { min: 0.45 },
  aged_list50_miss_cpu_ratio: { min: 0.15 },
  // Two requests to the CMS: the write, and what an anonymous reader is shown of it.
  write_time_ratio: { max: 2 },
  create_cms_requests: { max: 2 },
  read_after_write_cms_requests: { max: 0 },
  authenticated_event_cms_requests: { max: 1 },
  // A page of unpublished events, of venues and of organizers, and the images that only the caller sees.
  authenticated_list50_cms_requests: { max: 4 },
};

const rounded = (value: number): number => Number(value.toPrecision(value < 10 ? 3 : 4));

export function flattenFigures(figures: Figure[]): Record<string, number> {
  const all = Object.assign({}, ...figures.map(({ values }) => values)) as Record<string, number>;
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, rounded(value)]));
}

const met = (key: string, value: number): boolean => {
  const target = TARGETS[key]!;
  return 'min' in target ? value >= target.min : value <= target.max;
};

/** Prints the table, and which targets are met. */
export function printFigures(figures: Figure[]): void {
  const shown = (value: number | undefined, digits: number) =>
    value === undefined ? '' : Number(value.toFixed(digits));
  console.table(
    figures.map(({ row, server, cpuUs, perSecond, p99Ms, ratio, note = '' }) => ({
      row,
      server,
      'CPU us': shown(cpuUs, 1),
      'req/s': shown(perSecond, 1),
      'p99 ms': shown(p99Ms, 1),
      ratio: shown(ratio, 2),
      note,
    })),
  );
  const values = flattenFigures(figures);
  for (const [key, target] of Object.entries(TARGETS)) {
    if (values[key] === undefined) continue;
    const [label, bound] = 'min' in target ? ['at least', target.min] : ['at most', target.max];
    console.log(`${met(key, values[key]) ? 'met   ' : 'MISSED'}  ${key} ${values[key]} (${label} ${bound})`);
  }
}
