// What the metrics count and measure, in the Prometheus format.

import { expect } from 'chai';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { Observation } from '../../src/observability/observations.ts';

describe('metrics', () => {
  let nowMs = 0;
  let metrics: ReturnType<typeof createMetrics>;
  beforeEach(() => {
    nowMs = 1_000_000;
    metrics = createMetrics(() => nowMs);
  });
  const observe = (...events: Observation[]) => events.forEach(metrics.observe);
  const value = async (series: string): Promise<number | undefined> => {
    const line = (await metrics.registry.metrics()).split('\n').find((row) => row.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };
  const request: Observation = {
    type: 'request',
    id: 'secret-id',
    method: 'GET',
    route: 'list /events',
    status: 200,
    cache: 'hit',
    durationMs: 3,
  };
  const poll: Observation = { type: 'sync-round', isPoll: true, requests: 5, changed: 2, removed: 1, durationMs: 100 };

  it('is in the format of Prometheus', async () => {
    expect(metrics.registry.contentType).to.match(/^text\/plain; version=0\.0\.4/);
    expect(await metrics.registry.metrics()).to.contain('# TYPE calendar_request_seconds histogram');
  });

  it('measures requests by route and cache outcome', async () => {
    observe(request, request, { ...request, cache: 'miss', durationMs: 60 }, { ...request, status: 503 });
    const labels = 'route="list /events",status="2xx",cache="hit"';
    expect(await value(`calendar_request_seconds_count{${labels}}`)).to.equal(2);
    expect(await value(`calendar_request_seconds_sum{${labels}}`)).to.be.closeTo(0.006, 1e-9);
    expect(await value(`calendar_request_seconds_bucket{le="0.001",${labels}}`)).to.equal(0);
    expect(await value(`calendar_request_seconds_bucket{le="0.005",${labels}}`)).to.equal(2);
    expect(await value(`calendar_request_seconds_count{${labels.replace('hit', 'miss')}}`)).to.equal(1);
    expect(await metrics.registry.metrics()).not.to.contain('secret-id');
    // One series per status class, for all methods.
    observe({ ...request, status: 206 }, { ...request, method: 'HEAD' });
    expect(await value(`calendar_request_seconds_count{${labels}}`)).to.equal(4);
    const lines = (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => line.includes(`seconds_count{${labels}}`));
    expect(lines).to.have.length(1);
  });

  it('says nothing of Redis without a cluster', async () => {
    expect(await value('calendar_cluster_connected')).to.equal(undefined);
    observe({ type: 'cluster-connection', isConnected: false, reason: 'refused' });
    expect(await value('calendar_cluster_connected')).to.equal(0);
  });

  it('counts each of a thousand requests once, whenever it is scraped', async () => {
    const series = 'calendar_request_seconds_count{route="read /events/:id",status="2xx",cache="hit"}';
    for (let count = 1; count <= 1000; count += 1) {
      observe({ ...request, route: 'read /events/:id' });
      if ([1, 255, 256, 257, 700, 1000].includes(count)) expect(await value(series)).to.equal(count);
    }
  });

  it('counts calls to the CMS, their failures, the circuit breaker and the queue, without paths', async () => {
    observe(
      { type: 'cms-call', method: 'GET', path: '/wp/v2/secret', status: 200, durationMs: 20, attempt: 1 },
      { type: 'cms-call', method: 'GET', path: '/wp/v2/secret', status: 200, durationMs: 20, attempt: 2 },
      { type: 'cms-failed', method: 'GET', path: '/', reason: 'timeout', durationMs: 1, message: 'secret' },
      { type: 'breaker', bulkhead: 'sync', state: 'open' },
      { type: 'queue', waiting: 3, running: 8 },
      { type: 'request-failed', id: 'x', error: new Error('secret') },
    );
    expect(await value('calendar_cms_call_seconds_count{method="GET",status="200"}')).to.equal(2);
    expect(await value('calendar_cms_retries_total')).to.equal(1);
    expect(await value('calendar_cms_failures_total{reason="timeout"}')).to.equal(1);
    expect(await value('calendar_breaker_state')).to.equal(2);
    expect(await value('calendar_cms_calls_queued')).to.equal(3);
    expect(await value('calendar_cms_calls_running')).to.equal(8);
    expect(await value('calendar_request_failures_total')).to.equal(1);
    observe(
      { type: 'breaker', bulkhead: 'sync', state: 'half-open' },
      { type: 'breaker', bulkhead: 'callers', state: 'closed' },
    );
    expect(await value('calendar_breaker_state')).to.equal(1);
    expect(await metrics.registry.metrics()).not.to.contain('secret');
  });

  it('measures the sync lag: a poll ends it, a failed poll does not', async () => {
    nowMs += 7000;
    expect(await value('calendar_sync_lag_seconds')).to.equal(7);
    observe({ type: 'sync-state', from: 'syncing', to: 'live', why: 'synced' }, poll);
    nowMs += 10_000;
    expect(await value('calendar_sync_lag_seconds')).to.equal(10);
    observe(poll);
    expect(await value('calendar_sync_lag_seconds')).to.equal(0);
    expect(await value('calendar_replica_state{state="live"}')).to.equal(1);
    nowMs += 10_000;
    observe({ ...poll, isPoll: false });
    expect(await value('calendar_sync_lag_seconds'), 'a scan alone').to.equal(10);
    observe({ type: 'sync-state', from: 'live', to: 'unreachable', why: 'timeout' }, poll);
    nowMs += 50_000;
    observe(poll);
    expect(await value('calendar_sync_lag_seconds')).to.equal(60);
    expect(await value('calendar_replica_state{state="unreachable"}')).to.equal(1);
    expect(await value('calendar_replica_state{state="live"}')).to.equal(0);
    observe({ type: 'sync-state', from: 'unreachable', to: 'live', why: 'caughtUp' });
    expect(await value('calendar_sync_lag_seconds')).to.equal(0);
    expect(await value('calendar_sync_changed_total')).to.equal(15);
    expect(await value('calendar_sync_poll_seconds_count')).to.equal(5);
  });
});
