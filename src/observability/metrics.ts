// The metrics for Prometheus: what each observation adds to which of them.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { VERSION } from '../version.ts';
import { type Observation, type ObservationOf, REPLICA_STATES } from './observations.ts';

type Readers = { [T in Observation['type']]?: (observation: ObservationOf<T>) => void };

const BUCKETS_S = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15];
const BREAKER = { closed: 0, 'half-open': 1, open: 2 };

/** `nowMs`: the clock of the lag, which begins with the process, unlike `lastCaughtUpMs` of the sync. */
export function createMetrics(nowMs: () => number = Date.now) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = createInstruments(registry);
  metrics.build.set({ version: VERSION }, 1);
  // Without a cluster it has no value: 0 would raise the alert that Redis is away.
  metrics.clusterConnected.remove();
  const breakers = new Map<string, number>();
  let isLive = false;
  let caughtUpMs = nowMs();
  const lag: Gauge = new Gauge({
    name: 'calendar_sync_lag_seconds',
    help: 'Seconds since the replica last equalled the CMS, or since the start if it never did',
    // At each scrape: while no poll ends, the lag grows.
    collect: () => lag.set((nowMs() - caughtUpMs) / 1000),
    registers: [registry],
  });
  const readers: Readers = {
    request: ({ route, status, cache, durationMs }) =>
      metrics.requests.observe({ route, status: `${Math.trunc(status / 100)}xx`, cache }, durationMs / 1000),
    webhook: ({ result }) => metrics.webhooks.inc({ result }),
    'request-failed': () => metrics.requestFailures.inc(),
    'cms-call'({ method, status, durationMs, attempt }) {
      metrics.cmsCalls.observe({ method, status }, durationMs / 1000);
      if (attempt > 1) metrics.cmsRetries.inc();
    },
    'cms-failed': ({ reason }) => metrics.cmsFailures.inc({ reason }),
    breaker({ bulkhead, state }) {
      breakers.set(bulkhead, BREAKER[state]);
      metrics.breaker.set(Math.max(...breakers.values()));
    },
    queue({ waiting, running }) {
      metrics.cmsQueued.set(waiting);
      metrics.cmsRunning.set(running);
    },
    'sync-state'({ to }) {
      isLive = to === 'live';
      if (isLive) caughtUpMs = nowMs();
      for (const state of REPLICA_STATES) metrics.replicaState.set({ state }, Number(state === to));
    },
    'sync-round'({ isPoll, durationMs, changed, removed }) {
      // A poll that failed has ended the state `live` by now.
      if (isPoll && isLive) caughtUpMs = nowMs();
      metrics.polls.observe(durationMs / 1000);
      metrics.syncChanged.inc(changed + removed);
    },
    'replica-quarantined': () => metrics.quarantined.inc(),
    'source-read': ({ source, problem }) =>
      metrics.sourceReads.inc({ source, result: problem === undefined ? 'current' : 'problem' }),
    'cluster-connection': ({ isConnected }) => metrics.clusterConnected.set(Number(isConnected)),
    'cluster-applied': ({ entries }) => metrics.clusterApplied.inc(entries),
    'cluster-lease': ({ isTaken }) => metrics.clusterPolls.inc({ turn: isTaken ? 'taken' : 'skipped' }),
    push({ receiver, host, answer, failures, position, durationMs }) {
      metrics.pushes.observe({ receiver, host, answer }, durationMs / 1000);
      metrics.pushFailures.set({ receiver, host }, failures);
      metrics.pushPosition.set({ receiver, host }, position);
    },
  };
  return {
    observe: (observation: Observation): void => readers[observation.type]?.(observation as never),
    registry,
  };
}

function createInstruments(registry: Registry) {
  const registers = [registry];
  const count = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `calendar_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `calendar_${name}`, help, labelNames, registers });
  const time = (name: string, help: string, ...labelNames: string[]) =>
    new Histogram({ name: `calendar_${name}`, help, labelNames, buckets: BUCKETS_S, registers });
  const receiver = ['receiver', 'host'];

  return {
    build: gauge('build_info', 'Always 1; the label has the version of the gateway', 'version'),
    requests: time('request_seconds', 'Requests by route, status class and cache outcome', 'route', 'status', 'cache'),
    webhooks: count('webhooks_total', 'Webhooks of the CMS: accepted, or why they were refused', 'result'),
    requestFailures: count('request_failures_total', 'Requests that failed with an unexpected error'),
    cmsCalls: time(
      'cms_call_seconds',
      'Calls to the CMS until the headers of the response, by method and status',
      'method',
      'status',
    ),
    cmsRetries: count('cms_retries_total', 'Repeated calls to the CMS'),
    cmsFailures: count('cms_failures_total', 'Calls to the CMS without a usable response', 'reason'),
    breaker: gauge('breaker_state', '0 closed, 1 half open, 2 open: the worst circuit breaker of all bulkheads'),
    cmsQueued: gauge('cms_calls_queued', 'Calls to the CMS that wait for a connection'),
    cmsRunning: gauge('cms_calls_running', 'Calls to the CMS in flight'),
    replicaState: gauge('replica_state', '1 for the state of the replica', 'state'),
    polls: time('sync_poll_seconds', 'Rounds of the sync: initial sync or poll, and scan'),
    syncChanged: count(
      'sync_changed_total',
      'Records and images that the sync, webhooks and writes changed or deleted',
    ),
    quarantined: count('replica_quarantined_total', 'Replica files that were damaged, or of another site or version'),
    sourceReads: count('source_reads_total', 'Reads of sources: are their events current', 'source', 'result'),
    clusterConnected: gauge('cluster_connected', 'Cluster: 1 while Redis responds'),
    clusterApplied: count('cluster_applied_total', 'Cluster: entries whose records this gateway has read again'),
    clusterPolls: count('cluster_polls_total', 'Cluster: intervals in which this or another gateway polled', 'turn'),
    pushes: time('push_seconds', 'Outgoing webhooks by receiver and answer', ...receiver, 'answer'),
    pushFailures: gauge('push_failures', 'Outgoing webhooks: failures since the last success', ...receiver),
    pushPosition: gauge('push_position', 'Outgoing webhooks: the last change that a receiver has', ...receiver),
  };
}
