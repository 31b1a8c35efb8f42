// Metrics for Prometheus: the other reader of what is observed.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { onceForAlike } from './alike.ts';
import { createDurations, type Series } from './durations.ts';
import type { Observation, Observe } from './events.ts';

export interface Metrics {
  observe: Observe;
  /** Type and text of the answer to a scrape. */
  contentType: string;
  text(): Promise<string>;
}

const SECONDS = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15];
const BREAKER = { closed: 0, 'half-open': 1, open: 2 };

const STATES = ['empty', 'copying', 'live', 'lagging', 'away'];
const ROLES = ['away', 'joining', 'following', 'founding', 'leading'];

/** Counts what it is handed, from now on. `nowMs` is the clock of the lag alone. */
export function createMetrics(nowMs: () => number = Date.now): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = createDurations(registry, {
    name: 'calendar_request_seconds',
    help: 'Requests by route, status class and cache outcome',
    labelNames: ['route', 'status', 'cache'],
    buckets: SECONDS,
  });
  const failures = new Counter({
    name: 'calendar_request_failures_total',
    help: 'Requests that met something nobody foresaw',
    registers,
  });
  const stale = new Counter({
    name: 'calendar_served_stale_total',
    help: 'Public answers given while the CMS was away or lagging',
    registers,
  });
  const calls = new Histogram({
    name: 'calendar_upstream_seconds',
    help: 'Calls to the CMS by method and status',
    labelNames: ['method', 'status'],
    buckets: SECONDS,
    registers,
  });
  const retries = new Counter({
    name: 'calendar_upstream_retries_total',
    help: 'Calls to the CMS that were repeated',
    registers,
  });
  const away = new Counter({
    name: 'calendar_upstream_failures_total',
    help: 'Calls to the CMS without a usable answer',
    labelNames: ['reason'],
    registers,
  });
  const breaker = new Gauge({
    name: 'calendar_breaker_state',
    help: '0 closed, 1 half open, 2 open: the worst of the lanes to the CMS',
    registers,
  });
  const breakers = new Map<string, number>();
  const waiting = new Gauge({
    name: 'calendar_upstream_waiting',
    help: 'Calls to the CMS that wait for their turn',
    registers,
  });
  const running = new Gauge({ name: 'calendar_upstream_running', help: 'Calls to the CMS under way', registers });
  const inStep = new Gauge({
    name: 'calendar_copy_in_step',
    help: '1 while the copy is in step with the CMS',
    registers,
  });
  const states = new Gauge({
    name: 'calendar_copy_state',
    help: '1 for the state that the copy is in',
    labelNames: ['state'],
    registers,
  });
  const bornMs = nowMs();
  let state = 'empty';
  let inStepMs: number | undefined;
  /** There only where the gateways are several. */
  let roles: Gauge<'role'> | undefined;
  let ignored: Counter | undefined;
  const lag: Gauge = new Gauge({
    name: 'calendar_sync_lag_seconds',
    help: 'Since the copy was last known to be in step with the CMS (before the first time: since the start)',
    collect: () => lag.set((nowMs() - (inStepMs ?? bornMs)) / 1000),
    registers,
  });
  const copied = new Gauge({
    name: 'calendar_first_copy_records',
    help: 'Records of the first copy by collection: done, and in all',
    labelNames: ['collection', 'of'],
    registers,
  });
  const rounds = new Histogram({
    name: 'calendar_sync_round_seconds',
    help: 'Rounds of looking at the CMS',
    buckets: SECONDS,
    registers,
  });
  const changed = new Counter({
    name: 'calendar_sync_changed_total',
    help: 'Records that a round changed or removed',
    registers,
  });
  const quarantined = new Counter({
    name: 'calendar_replica_quarantined_total',
    help: 'Replica files that could not be used: damaged, or of another site, mapping or version',
    registers,
  });
  const lastRound = new Gauge({
    name: 'calendar_sync_last_round_timestamp_seconds',
    help: 'When the last round ended',
    registers,
  });
  const series = new Map<string, Series>();
  const seriesOf = onceForAlike(({ route, cache, status }) => {
    const labels = [route, `${Math.trunc(status / 100)}xx`, cache];
    const name = labels.join(' ');
    const known = series.get(name) ?? requests(...labels);
    series.set(name, known);
    return known;
  });

  function count(seen: Observation): void {
    switch (seen.type) {
      case 'request':
        seriesOf(seen)(seen.durationMs / 1000);
        if (seen.cache === 'stale') stale.inc();
        return;
      case 'request-failed':
        failures.inc();
        return;
      case 'upstream-call':
        calls.labels(seen.method, String(seen.status)).observe(seen.durationMs / 1000);
        if (seen.attempt > 1) retries.inc();
        return;
      case 'upstream-failed':
        away.labels(seen.reason).inc();
        return;
      case 'breaker':
        breakers.set(seen.lane, BREAKER[seen.state]);
        breaker.set(Math.max(...breakers.values()));
        return;
      case 'queue':
        waiting.set(seen.waiting);
        running.set(seen.running);
        return;
      case 'sync-state':
        state = seen.to;
        inStep.set(state === 'live' ? 1 : 0);
        if (state === 'live') inStepMs = nowMs();
        for (const one of STATES) states.labels(one).set(one === state ? 1 : 0);
        return;
      case 'sync-progress':
        copied.labels(seen.collection, 'done').set(seen.done);
        copied.labels(seen.collection, 'total').set(seen.total);
        return;
      case 'sync-round':
        rounds.observe(seen.durationMs / 1000);
        changed.inc(seen.changed + seen.removed);
        // A round that fails leaves the state of being in step before it ends.
        if (state === 'live') inStepMs = nowMs();
        lastRound.setToCurrentTime();
        return;
      case 'cluster-ignored':
        ignored ??= new Counter({
          name: 'calendar_gateway_ignored_messages_total',
          help: 'Of several gateways: messages, entries and pieces in Redis that no gateway wrote',
          registers,
        });
        ignored.inc();
        return;
      case 'replica-quarantined':
        quarantined.inc();
        return;
      case 'cluster-role':
        roles ??= new Gauge({
          name: 'calendar_gateway_role',
          help: 'Of several gateways: 1 for what this one does; away: it does not hear the others',
          labelNames: ['role'],
          registers,
        });
        for (const one of ROLES) roles.labels(one).set(one === seen.to ? 1 : 0);
        return;
      default:
        return;
    }
  }

  return { observe: count, contentType: registry.contentType, text: () => registry.metrics() };
}
