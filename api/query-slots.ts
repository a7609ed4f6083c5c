/** The connections for queries, fairly among organizations. */
import type { Metrics } from '#platform/observability/metrics.ts';
import { FairSlots } from '#platform/process/fair-slots.ts';

/** More queries at a time would not be faster than the cores of Postgres allow. */
export const QUERY_CONNECTIONS = 10;
/** Connections for organizations that have no query under way: the first of these are not delayed by slow queries of others. */
const SPARE = 2;
/** Half: an organization with slow queries leaves as many to the others. */
const OF_ONE = QUERY_CONNECTIONS / 2;
/** A waiting query is a call with its body. Large bodies are bounded by themselves, and all calls together by open connections. */
const MAX_WAITING_OF_ONE = 2_048;
/** Twice what a statement may take. */
const PATIENCE_MS = 30_000;

/** Makes the slots, one for each connection. */
export function createQuerySlots(): FairSlots {
  return new FairSlots({
    count: QUERY_CONNECTIONS - SPARE,
    spare: SPARE,
    ofOne: OF_ONE,
    maxWaiting: Number.POSITIVE_INFINITY,
    maxWaitingOfOne: MAX_WAITING_OF_ONE,
    patienceMs: PATIENCE_MS,
  });
}

/** Registers how many queries run and wait. */
export function watchQueries(metrics: Metrics, slots: Pick<FairSlots, 'running' | 'waiting'>): void {
  metrics.readOnDemand(
    'api_queries_running',
    'Queries of organizations that have a connection',
    () => slots.running,
  );
  metrics.readOnDemand(
    'api_queries_waiting',
    'Queries of organizations that wait for a connection',
    () => slots.waiting,
  );
}
