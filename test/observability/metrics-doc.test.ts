// docs/operations.md, the dashboard and the alerting rules have the metrics and labels that the gateway registers.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { createMetrics } from '../../src/observability/metrics.ts';

const ROOT = new URL('../../', import.meta.url);
const DOCUMENT = new URL('docs/operations.md', ROOT);
const SECTION = /(<!-- metrics -->\n)([\s\S]*?)(<!-- \/metrics -->)/;
const read = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');

interface Metric {
  name: string;
  help: string;
  type: string;
  labels: string[];
}

/** An instrument of prom-client has its labels, which the types of the library do not say. */
const registered = (): Metric[] =>
  (createMetrics().registry.getMetricsAsArray() as unknown as (Metric & { labelNames: string[] })[]).map(
    ({ name, help, type, labelNames }) => ({ name, help, type, labels: labelNames }),
  );

const row = ({ name, help, type, labels }: Metric) =>
  `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`;

/** Labels that Prometheus and Kubernetes add to each series, and the bounds of a histogram. */
const ADDED_LABELS = ['job', 'instance', 'le'];

/** What a PromQL expression uses and the gateway does not have. */
function unknownIn(expression: string, metrics: readonly Metric[]): string[] {
  const withoutTexts = expression.replace(/"[^"]*"/g, '""');
  const names = [...withoutTexts.matchAll(/\b(?:calendar|process|nodejs)_\w+/g)].map(([name]) => name);
  const used = names.map((name) =>
    metrics.find((metric) =>
      metric.type === 'histogram'
        ? [`${metric.name}_bucket`, `${metric.name}_count`, `${metric.name}_sum`].includes(name)
        : metric.name === name,
    ),
  );
  const known = new Set([...ADDED_LABELS, ...used.flatMap((metric) => metric?.labels ?? [])]);
  const labels = [
    ...[...withoutTexts.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) => list.match(/\w+(?==|!|~)/g) ?? []),
    ...[...withoutTexts.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */)),
  ];
  return [...names.filter((_, index) => !used[index]), ...labels.filter((label) => !known.has(label))];
}

describe('the metrics in documents', () => {
  const metrics = registered();

  it('docs/operations.md lists each (npm run docs updates the file)', () => {
    const rows = metrics.filter(({ name }) => name.startsWith('calendar_')).map(row);
    const expected = `\n| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n\n`;
    const text = readFileSync(DOCUMENT, 'utf8');
    if (process.env.WRITE_DOCS)
      writeFileSync(
        DOCUMENT,
        text.replace(SECTION, (_section, begin: string, _table, end: string) => begin + expected + end),
      );
    else expect(SECTION.exec(text)?.[2]).to.equal(expected);
  });

  it('the dashboard and the alerts use only those, with their labels', () => {
    const { panels, templating } = JSON.parse(read('deploy/grafana-dashboard.json')) as {
      panels: { title: string; targets: { expr: string }[] }[];
      templating: { list: { type: string; query: string }[] };
    };
    const rules = read('deploy/prometheus-alerts.yaml');
    const expressions = [
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...templating.list.filter(({ type }) => type === 'query').map(({ query }) => query),
      ...[...rules.matchAll(/^ +expr: (?:>-\n((?: {10}.*\n)+)|(.*))/gm)].map(([, lines, line]) => (lines ?? line)!),
    ];
    expect(expressions.length).to.be.above(30);
    expect(expressions.flatMap((expression) => unknownIn(expression, metrics))).to.deep.equal([]);
  });

  it('an unknown metric or label is found', () => {
    expect(unknownIn('sum by (state) (calendar_replica_state{kind="x"})', metrics)).to.deep.equal(['kind']);
    expect(unknownIn('rate(calendar_request_seconds[5m])', metrics)).to.deep.equal(['calendar_request_seconds']);
  });

  it('docs/operations.md says what to do about each alert', () => {
    const alerts = [...read('deploy/prometheus-alerts.yaml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const text = readFileSync(DOCUMENT, 'utf8');
    expect([...text.matchAll(/^\| `(Calendar\w+)` \|/gm)].map(([, name]) => name)).to.deep.equal(alerts);
  });
});
