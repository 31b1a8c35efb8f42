// The metrics for Prometheus: a reader of the observations. A new metric is one line in `createMetrics`. A value that
// is computed at each scrape needs a function of its own, as `addSyncLag`.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { VERSION } from '../version.ts';
import { type Observation, type ObservationOf, type Observe, REPLICA_STATES } from './observations.ts';

export interface Metrics {
  observe: Observe;
  /** Content type and body of the response to a scrape. */
  contentType: string;
  text(): Promise<string>;
}

type ObservationType = Observation['type'];
type TimedObservation = Extract<Observation, { durationMs: number }>;
type TimedObservationType = TimedObservation['type'];
type Reader<T extends ObservationType> = (observation: ObservationOf<T>) => void;
/** Label names, each with its value for an observation. */
type Labels<T extends ObservationType> = Record<string, (observation: ObservationOf<T>) => string>;

const BUCKETS_S = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15];
const BREAKER = { closed: 0, 'half-open': 1, open: 2 };

/** `nowMs`: the clock of the last poll and of the sync lag. */
export function createMetrics(nowMs: () => number = Date.now): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const buildLabels = { version: VERSION };
  const build = { name: 'calendar_build_info', help: 'Always 1; the label has the version of the gateway' };
  new Gauge({ ...build, labelNames: Object.keys(buildLabels), registers: [registry] }).set(buildLabels, 1);
  const { on, observe } = createReaders();
  const { count, time, gauge, state } = createInstruments(registry, on);

  time('request', 'calendar_request_seconds', 'Requests by route, status class and cache outcome', {
    route: ({ route }) => route,
    status: ({ status }) => `${Math.trunc(status / 100)}xx`,
    cache: ({ cache }) => cache,
  });
  count('webhook', 'calendar_webhooks_total', 'Webhooks of the CMS: accepted, or why they were refused', {
    result: ({ result }) => result,
  });
  count('request-failed', 'calendar_request_failures_total', 'Requests that failed with an unexpected error');
  const isStale = ({ cache }: ObservationOf<'request'>) => Number(cache === 'stale');
  const stale = 'Public responses served while the CMS was unreachable or the replica stale';
  count('request', 'calendar_served_stale_total', stale, {}, isStale);

  const callLabels: Labels<'cms-call'> = { method: ({ method }) => method, status: ({ status }) => String(status) };
  const isRetry = ({ attempt }: ObservationOf<'cms-call'>) => Number(attempt > 1);
  time('cms-call', 'calendar_cms_call_seconds', 'Calls to the CMS by method and status', callLabels);
  count('cms-call', 'calendar_cms_retries_total', 'Repeated calls to the CMS', {}, isRetry);
  count('cms-failed', 'calendar_cms_failures_total', 'Calls to the CMS without a usable response', {
    reason: ({ reason }) => reason,
  });
  const breakers = new Map<string, number>();
  const worst = '0 closed, 1 half open, 2 open: the worst circuit breaker of all bulkheads';
  gauge('breaker', 'calendar_breaker_state', worst, (observation) => {
    breakers.set(observation.bulkhead, BREAKER[observation.state]);
    return Math.max(...breakers.values());
  });
  gauge('queue', 'calendar_cms_calls_queued', 'Calls to the CMS that wait for a connection', ({ waiting }) => waiting);
  gauge('queue', 'calendar_cms_calls_running', 'Calls to the CMS in flight', ({ running }) => running);

  state('sync-state', 'calendar_replica_state', '1 for the state of the replica', 'state', REPLICA_STATES);
  gauge('sync-state', 'calendar_replica_live', '1 while the replica is live', ({ to }) => Number(to === 'live'));
  time('sync-poll', 'calendar_sync_poll_seconds', 'Polls of the CMS');
  const changes = ({ changed, removed }: ObservationOf<'sync-poll'>) => changed + removed;
  count('sync-poll', 'calendar_sync_changed_total', 'Records that a poll changed or deleted', {}, changes);
  const lastPoll = 'When the last poll ended';
  gauge('sync-poll', 'calendar_sync_last_poll_timestamp_seconds', lastPoll, () => nowMs() / 1000);
  addSyncLag(registry, on, nowMs);
  addInitialSync(registry, on);
  const quarantined = 'Replica files that were unusable: damaged, or of another site, mapping or version';
  count('replica-quarantined', 'calendar_replica_quarantined_total', quarantined);

  count('source-read', 'calendar_source_reads_total', 'Reads of sources: whether their events are current then', {
    source: ({ source }) => source,
    result: ({ problem }) => (problem === undefined ? 'current' : 'problem'),
  });

  const connected = 'Cluster: 1 while Redis responds';
  gauge('cluster-connection', 'calendar_cluster_connected', connected, ({ isConnected }) => Number(isConnected));
  const applied = 'Cluster: entries of gateways whose records this one has read again';
  count('cluster-applied', 'calendar_cluster_applied_total', applied, {}, ({ entries }) => entries);
  const lastApplied = 'Cluster: when the last of these entries was written, by the clock of Redis';
  gauge('cluster-applied', 'calendar_cluster_last_applied_timestamp_seconds', lastApplied, ({ id }) =>
    Math.floor(Number.parseInt(id, 10) / 1000),
  );
  const turns = 'Cluster: intervals in which this gateway polled, or left it to another one';
  count('cluster-turn', 'calendar_cluster_polls_total', turns, {
    turn: ({ isTaken }) => (isTaken ? 'taken' : 'skipped'),
  });
  const ignored = 'Cluster: entries in Redis that no gateway wrote';
  count('cluster-entry-ignored', 'calendar_cluster_ignored_entries_total', ignored);

  return { observe, contentType: registry.contentType, text: () => registry.metrics() };
}

type On = <T extends ObservationType>(type: T, reader: Reader<T>) => void;

function createReaders(): { on: On; observe: Observe } {
  const readers = new Map<ObservationType, ((observation: never) => void)[]>();
  return {
    on: (type, reader) => void readers.set(type, [...(readers.get(type) ?? []), reader]),
    observe(observation) {
      for (const read of readers.get(observation.type) ?? []) read(observation as never);
    },
  };
}

function createInstruments(registry: Registry, on: On) {
  const registers = [registry];
  const valuesOf = <T extends ObservationType>(labels: Labels<T>, observation: ObservationOf<T>) => {
    const values: Record<string, string> = {};
    for (const name in labels) values[name] = labels[name]!(observation);
    return values;
  };

  return {
    /** `by`: by how much an observation raises the counter. */
    count<T extends ObservationType>(
      type: T,
      name: string,
      help: string,
      labels: Labels<T> = {},
      by: (observation: ObservationOf<T>) => number = () => 1,
    ): void {
      const counter = new Counter({ name, help, labelNames: Object.keys(labels), registers });
      on(type, (observation) => {
        const increment = by(observation);
        if (increment > 0) counter.inc(valuesOf(labels, observation), increment);
      });
    },
    /** A histogram of the durations. */
    time<T extends TimedObservationType>(type: T, name: string, help: string, labels: Labels<T> = {}): void {
      const labelNames = Object.keys(labels);
      const histogram = new Histogram({ name, help, labelNames, buckets: BUCKETS_S, registers });
      on(type, (observation) =>
        histogram.observe(valuesOf(labels, observation), (observation as TimedObservation).durationMs / 1000),
      );
    },
    gauge<T extends ObservationType>(
      type: T,
      name: string,
      help: string,
      value: (observation: ObservationOf<T>) => number,
    ): void {
      const metric = new Gauge({ name, help, registers });
      on(type, (observation) => metric.set(value(observation)));
    },
    /** A gauge per state: 1 for the current one. */
    state(type: 'sync-state', name: string, help: string, label: string, states: readonly string[]): void {
      const metric = new Gauge({ name, help, labelNames: [label], registers });
      on(type, ({ to }) => {
        for (const state of states) metric.labels(state).set(Number(state === to));
      });
    },
  };
}

function addSyncLag(registry: Registry, on: On, nowMs: () => number): void {
  const startedMs = nowMs();
  let isLive = false;
  let caughtUpMs: number | undefined;
  const lag: Gauge = new Gauge({
    name: 'calendar_sync_lag_seconds',
    help: 'Seconds since the replica last equalled the CMS, or since the start if it never did',
    collect: () => lag.set((nowMs() - (caughtUpMs ?? startedMs)) / 1000),
    registers: [registry],
  });
  on('sync-state', ({ to }) => {
    isLive = to === 'live';
    if (isLive) caughtUpMs = nowMs();
  });
  on('sync-poll', () => {
    // A poll that fails leaves the state `live` before it ends.
    if (isLive) caughtUpMs = nowMs();
  });
}

function addInitialSync(registry: Registry, on: On): void {
  const records = new Gauge({
    name: 'calendar_initial_sync_records',
    help: 'Records of the initial sync by collection: done, and total',
    labelNames: ['collection', 'of'],
    registers: [registry],
  });
  on('sync-progress', ({ collection, done, total }) => {
    records.labels(collection, 'done').set(done);
    records.labels(collection, 'total').set(total);
  });
}
