// Durations of what happens very often, as a histogram of the metrics: one more costs a few additions.

import type { Histogram, MetricValueWithName, Registry } from 'prom-client';

export interface DurationsOptions {
  name: string;
  help: string;
  labelNames: readonly string[];
  /** Upper bounds in seconds, ascending. */
  buckets: readonly number[];
}

/** Counts one duration, in seconds. */
export type Series = (seconds: number) => void;

interface Tally {
  labels: Record<string, string>;
  /** By bucket, each without those below it; the last is what lies above all bounds. */
  counts: number[];
  sum: number;
}

/**
 * A histogram that looks like one of `prom-client` to a scrape. That one puts its labels together and hashes them each time a value is
 * counted, which costs a tenth of a stored answer; here a series is looked up once and kept by who counts.
 * @returns makes the series of these label values, in the order of `labelNames`
 */
export function createDurations(registry: Registry, options: DurationsOptions): (...values: string[]) => Series {
  const { name, help, labelNames, buckets } = options;
  const tallies: Tally[] = [];

  function valuesOf({ labels, counts, sum }: Tally): MetricValueWithName<string>[] {
    let count = 0;
    const upTo = [...buckets, '+Inf'].map((le, i) => {
      count += counts[i]!;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...upTo,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }

  // The library declares its kinds of metric as an enumeration of numbers, and compares with names.
  const described = { name, help, type: 'histogram', aggregator: 'sum' };
  const metric = { name, get: async () => ({ ...described, values: tallies.flatMap(valuesOf) }) };
  registry.registerMetric(metric as unknown as Histogram);

  return (...values) => {
    const labels = Object.fromEntries(labelNames.map((label, i) => [label, values[i]!]));
    const tally: Tally = { labels, counts: new Array<number>(buckets.length + 1).fill(0), sum: 0 };
    tallies.push(tally);
    return (seconds) => {
      let at = 0;
      while (at < buckets.length && seconds > buckets[at]!) at += 1;
      tally.counts[at]! += 1;
      tally.sum += seconds;
    };
  };
}
