// Benchmark results as a table, as flat JSON and as a chart.

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
  list50_hit_cpu_ratio: { min: 0.9 },
  event_hit_cpu_ratio: { min: 0.8 },
  event_304_cpu_ratio: { min: 0.75 },
  list50_miss_cpu_ratio: { min: 0.35 },
  aged_list50_hit_cpu_ratio: { min: 0.9 },
  aged_event_hit_cpu_ratio: { min: 0.8 },
  aged_event_304_cpu_ratio: { min: 0.75 },
  aged_list50_miss_cpu_ratio: { min: 0.35 },
  // Two requests to the CMS: the write, and what an anonymous reader is shown of it.
  write_time_ratio: { max: 2 },
  create_cms_requests: { max: 1 },
  read_after_write_cms_requests: { max: 0 },
  authenticated_event_cms_requests: { max: 1 },
  authenticated_list50_cms_requests: { max: 1 },
  crowd_list_computations: { max: 1 },
  crowd_unknown_to_one_alone_ratio: { max: 1 },
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

export function formatTable(figures: Figure[]): string {
  const lines = [['row', 'server', 'CPU us', 'req/s', 'p99 ms', 'ratio', '']];
  const text = (value: number | undefined, digits: number) => (value === undefined ? '' : value.toFixed(digits));
  let last = '';
  for (const { row, server, cpuUs, perSecond, p99Ms, ratio, note } of figures) {
    lines.push([
      row === last ? '' : row,
      server,
      text(cpuUs, 1),
      text(perSecond, perSecond !== undefined && perSecond < 100 ? 1 : 0),
      text(p99Ms, 1),
      text(ratio, 2),
      note ?? '',
    ]);
    last = row;
  }
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const rule = widths.map((width) => '-'.repeat(width));
  lines.splice(1, 0, rule);
  const aligned = lines.map((line) =>
    line
      .map((cell, i) => (i < 2 || i === 6 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
      .trimEnd(),
  );
  const values = flattenFigures(figures);
  const goals = Object.entries(TARGETS)
    .filter(([key]) => values[key] !== undefined)
    .map(([key, target]) => {
      const [label, bound] = 'min' in target ? ['at least', target.min] : ['at most', target.max];
      return `${met(key, values[key]!) ? 'met   ' : 'MISSED'}  ${key} ${values[key]} (${label} ${bound})`;
    });
  return `${aligned.join('\n')}\n\n${goals.join('\n')}\n`;
}

const escaped = (text: string) => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Bars of CPU time a request, row by row; a mark where the row's target lies. */
export function chart(figures: Figure[]): string {
  const compared = figures.filter(({ ratio }) => ratio !== undefined);
  const [left, width, height] = [440, 420, 22];
  const scale = width / Math.max(...compared.map(({ ratio }) => ratio!));
  let y = 64;
  let last = '';
  const parts: string[] = [];
  for (const { row, server, ratio, cpuUs, values } of compared) {
    if (row !== last) {
      y += 16;
      parts.push(`<text x="12" y="${y + 14}" font-weight="600">${escaped(row)}</text>`);
    }
    last = row;
    const isGateway = server === 'gateway';
    const long = Math.round(ratio! * scale);
    parts.push(
      `<text x="${left - 10}" y="${y + 14}" text-anchor="end" fill="#444">${escaped(server)}</text>`,
      `<rect x="${left}" y="${y + 2}" width="${long}" height="16" fill="${isGateway ? '#1d6fb8' : '#c3ccd6'}"/>`,
      `<text x="${left + long + 6}" y="${y + 14}">${ratio!.toFixed(2)} (${cpuUs!.toFixed(0)} us)</text>`,
    );
    const goal = Object.keys(values).find((key) => key in TARGETS);
    const target = goal === undefined ? undefined : TARGETS[goal];
    if (target && 'min' in target) {
      const x = left + Math.round(target.min * scale);
      parts.push(`<line x1="${x}" x2="${x}" y1="${y}" y2="${y + 20}" stroke="#b3261e" stroke-width="2"/>`);
    }
    y += height;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 160} ${y + 20}" font-family="sans-serif" font-size="13">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    `<text x="12" y="26" font-size="17" font-weight="600">CPU time a request, as a ratio to raw node:http sending the same bytes</text>`,
    `<text x="12" y="48" fill="#444">Longer is better; 1 is raw node:http. Red: the least that is aimed at.</text>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}
