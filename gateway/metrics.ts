/** The gateway's metrics. */
import type { Limiter } from '#platform/limiter/mod.ts';
import type { Metrics } from '#platform/observability/metrics.ts';
import type { ResponseCache } from './cache/mod.ts';
import type { Recorder } from './request/record.ts';
import type { BreakerState } from './routing/mod.ts';

export type GatewayMetrics = {
  /** Wraps the recorder, through which every call passes once, at its end. */
  counted(recorder: Recorder): Recorder;
  /** A call is served and not logged: its organization's logging rate is reached. */
  onUnlogged(): void;
  /** A limit was decided without the store that gateways share. */
  onDegraded(): void;
  /** A call found no connection to a provider in time; `label` is the provider's name. */
  onProviderBusy(label: string): void;
  /** A provider's address fails too often to be tried where there is another, or does so no more. */
  onBreaker(address: string, state: BreakerState): void;
};

/** Registers the gateway's metrics. */
export function gatewayMetrics(metrics: Metrics, cache: Pick<ResponseCache, 'counts'>): GatewayMetrics {
  const calls = metrics.counter('gateway_calls_total', 'Calls that ended, by provider and status', [
    'provider',
    'status',
  ]);
  const unlogged = metrics.counter(
    'gateway_unlogged_total',
    "Calls that were served and not logged, as their organization's logging rate was reached",
  );
  const degraded = metrics.counter(
    'gateway_limits_degraded_total',
    'Limits that were decided by this process alone, as the store of counters was away',
  );
  const busy = metrics.counter(
    'gateway_provider_busy_total',
    'Calls that found no connection to a provider in time, by provider: refused, or sent to their next route',
    ['provider'],
  );
  const open = metrics.gauge(
    'gateway_provider_open',
    '1 while the breaker of a provider address is open: calls go to their other routes, where they have any',
    ['address'],
  );
  const counts: [keyof ResponseCache['counts'], string, string][] = [
    ['memoryHits', 'cache_memory_hits', 'Calls that were answered from memory'],
    ['storeHits', 'cache_store_hits', 'Calls that were answered from Postgres'],
    ['misses', 'cache_misses', 'Calls that asked for a stored answer, and there was none'],
    ['coalesced', 'cache_coalesced', 'Calls that got the answer of an identical call under way'],
    ['dropped', 'cache_dropped', 'Answers that were to be stored and could not be written'],
  ];
  for (const [count, name, help] of counts)
    metrics.countedElsewhere(`${name}_total`, help, () => cache.counts[count]);
  return {
    onUnlogged: () => unlogged.inc(),
    onDegraded: () => degraded.inc(),
    onProviderBusy: (provider) => busy.inc({ provider }),
    onBreaker: (address, state) => open.set({ address }, Number(state !== 'closed')),
    counted: ({ begin, record }) => ({
      begin,
      record: (logged, result) => {
        calls.inc({ provider: result.candidate.row.label, status: result.outcome.status });
        return record(logged, result);
      },
    }),
  };
}

/** Registers how a limiter stands. */
export function watchLimiter(
  metrics: Metrics,
  limiter: Pick<Limiter, 'isDegraded' | 'unreportedCalls'>,
): void {
  metrics.readOnDemand(
    'gateway_limits_away',
    '1 while the store of counters is away, and this process limits by itself',
    () => Number(limiter.isDegraded()),
  );
  metrics.readOnDemand(
    'gateway_limits_unsettled',
    'Costs of calls that the store of counters does not have yet',
    limiter.unreportedCalls,
  );
}
