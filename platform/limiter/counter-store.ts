/** Counters in Postgres: the SQL functions assay.limit_*, one round trip each. Rejects as postgres.js does. */

import type { WindowShape } from '#core/rate-limit/mod.ts';
import type { Sql } from '../postgres/mod.ts';
import { answeredWithin } from '../postgres/mod.ts';
import { shownOf } from './counter-key.ts';
import type { Counter, Policy } from './types.ts';

/** A counter, and the window by which it decides. */
export type CounterQuery = { counter: Counter; key: Buffer; policy: Policy; shape: WindowShape };

/** State of a counter after a request. Durations count from `atMs`, a time on the counter's own clock. */
export type CounterSnapshot = {
  /** The charged counter: the one that was asked for, or the organization's overflow counter. */
  key: Buffer;
  atMs: number;
  /** Credits, or number of calls, that the request was granted. */
  granted: number;
  /** Amount that counts, including what was granted. */
  used: number;
  /** Time in which a grant may be spent. */
  spendableMs: number;
  resetMs: number;
  retryMs: number;
};

/** Request for credits: those needed now, and a prefetch of at most one of `shares` equal shares of what is left. */
type LeaseRequest = { needed: number; prefetch: number; shares: number };

/** Credits that were granted and not spent. */
export type UnusedCredits = { organizationId: string; key: Buffer; atMs: number; amount: number };

/** Request for a hold: for calls that wait, in order, and for later ones. Amounts are nano-dollars. */
export type HoldRequest = {
  /** Unique in the organization. */
  reservationId: string;
  estimatesNano: readonly number[];
  /** Prefetch for later calls, at most one of `shares` equal shares of what is left. */
  prefetchNano: number;
  /** Smallest useful prefetch: rather than less, nothing is prefetched. */
  minPrefetchNano: number;
  shares: number;
};

/** The first `granted` of the calls that waited were admitted. */
export type HoldGrant = CounterSnapshot & { prefetchedNano: number };

/** A call that was admitted `ageMs` ago, while degraded. */
export type DegradedReservation = { reservationId: string; estimateNano: number; ageMs: number };

/** State of a reservation, as a whole: sending it again changes nothing. */
export type Settlement = {
  organizationId: string;
  reservationId: string;
  /** Cost of its ended calls, and the estimates of those under way. */
  costNano: number;
  /** The counter ignores a settlement after one of a later revision. */
  revision: number;
  /** Calls are still under way. */
  isOpen: boolean;
};

export type CounterStore = {
  /** Grants credits. Unused credits of an earlier lease can be returned with the request. */
  leaseCredits(
    query: CounterQuery,
    request: LeaseRequest,
    toReturn?: UnusedCredits,
  ): Promise<CounterSnapshot>;
  returnCredits(unused: readonly UnusedCredits[]): Promise<void>;
  /** Counts calls that were admitted while degraded, whatever the quota. */
  countDegraded(query: CounterQuery, amounts: readonly { ageMs: number; amount: number }[]): Promise<void>;
  /** Applies settlements of this counter (those of other counters are ignored), then reserves a hold. */
  reserve(query: CounterQuery, request: HoldRequest, settlements?: readonly Settlement[]): Promise<HoldGrant>;
  /** Reserves calls that were admitted while degraded, whatever the quota. A reservation that exists counts once. */
  reserveDegraded(query: CounterQuery, calls: readonly DegradedReservation[]): Promise<void>;
  /** Applies settlements, at most one of each reservation. */
  settle(settlements: readonly Settlement[]): Promise<void>;
  peek(query: CounterQuery): Promise<CounterSnapshot>;
  /** Registers this gateway as alive (null: registers nothing). Returns the number of live gateways. */
  heartbeat(processId: string | null): Promise<number>;
  unregister(processId: string): Promise<void>;
  /** Deletes up to `limit` expired rows. Returns how many it deleted. */
  deleteExpired(limit: number): Promise<number>;
};

export type CounterStoreOptions = {
  /**
   * Counters of segments' values in an organization, 700 bytes each. Values beyond are counted together, in an overflow
   * counter.
   */
  maxCounters: number;
  /** Time for which a reservation is reported as open. After that it stays charged until it is settled. */
  reservationTtlMs: number;
};

type SnapshotRow = {
  counter_key: Buffer;
  at_ms: string;
  granted: string;
  used: string;
  life_ms: string;
  reset_ms: string;
  retry_ms: string;
};

function toSnapshot([row]: readonly SnapshotRow[]): CounterSnapshot {
  if (row === undefined) throw new Error('an assay.limit_* function returned no row');
  return {
    key: row.counter_key,
    atMs: Number(row.at_ms),
    granted: Number(row.granted),
    used: Number(row.used),
    spendableMs: Number(row.life_ms),
    resetMs: Number(row.reset_ms),
    retryMs: Number(row.retry_ms),
  };
}

/** Creates the counters of a database. */
export function createCounterStore(
  sql: Sql,
  { maxCounters, reservationTtlMs }: CounterStoreOptions,
): CounterStore {
  const queryRow = ({ counter, key, policy, shape }: CounterQuery) => {
    const { segment, value } = shownOf(counter);
    return sql`row(
    ${counter.organizationId}::uuid, ${key}::bytea, ${counter.apiKeyId}::uuid, ${counter.unit}::text,
    ${segment}::text, ${value}::text, ${maxCounters}::int, ${policy.windowS}::int,
    ${shape.widthMs}::int, ${shape.depth}::int, ${policy.quota}::bigint)::assay.limit_ask`;
  };
  const settlementArrays = (settlements: readonly Settlement[]) => sql`
    ${settlements.map(({ reservationId }) => reservationId)}::text[],
    ${settlements.map(({ costNano }) => costNano)}::bigint[], ${settlements.map(({ revision }) => revision)}::int[],
    ${settlements.map(({ isOpen }) => Number(isOpen))}::int[]::bool[]`;

  return {
    async leaseCredits(query, { needed, prefetch, shares }, toReturn) {
      return toSnapshot(
        await sql<SnapshotRow[]>`
          select * from assay.limit_take(
            ${queryRow(query)}, ${needed}, ${prefetch}, ${shares},
            ${toReturn?.key ?? null}, ${toReturn?.atMs ?? null}, ${toReturn?.amount ?? null})`,
      );
    },
    async returnCredits(unused) {
      await inBackground(sql`select assay.limit_give_back(
        ${unused.map(({ organizationId }) => organizationId)}::uuid[],
        ${unused.map(({ key }) => key.toString('hex'))}::text[],
        ${unused.map(({ atMs }) => atMs)}::bigint[], ${unused.map(({ amount }) => amount)}::bigint[])`);
    },
    async countDegraded(query, amounts) {
      await inBackground(sql`select assay.limit_count(
        ${queryRow(query)}, ${amounts.map(({ ageMs }) => ageMs)}::bigint[],
        ${amounts.map(({ amount }) => amount)}::bigint[])`);
    },
    async reserve(
      query,
      { reservationId, estimatesNano, prefetchNano, minPrefetchNano, shares },
      settlements = [],
    ) {
      const rows = await sql<(SnapshotRow & { ahead: string })[]>`
        select (h.counter).*, h.ahead from assay.limit_hold(
          ${queryRow(query)}, ${reservationId}, ${[...estimatesNano]}::bigint[], ${prefetchNano}, ${minPrefetchNano}, ${shares},
          ${reservationTtlMs}, ${settlementArrays(settlements)}) h`;
      return { ...toSnapshot(rows), prefetchedNano: Number(rows[0]?.ahead) };
    },
    async reserveDegraded(query, calls) {
      await inBackground(sql`select from assay.limit_reserve(
        ${queryRow(query)}, ${calls.map(({ reservationId }) => reservationId)}::text[],
        ${calls.map(({ estimateNano }) => estimateNano)}::bigint[],
        ${calls.map(({ ageMs }) => ageMs)}::bigint[], true, ${reservationTtlMs})`);
    },
    async settle(settlements) {
      await inBackground(sql`select assay.limit_settle(
        ${settlements.map(({ organizationId }) => organizationId)}::uuid[], ${settlementArrays(settlements)})`);
    },
    async peek(query) {
      return toSnapshot(await sql<SnapshotRow[]>`select * from assay.limit_peek(${queryRow(query)})`);
    },
    async heartbeat(processId) {
      const [row] = await inBackground(
        processId === null
          ? sql<{ gateways: number }[]>`
              select count(*)::int as gateways from assay.limit_gateways
               where seen_at > clock_timestamp() - interval '10 seconds'`
          : sql<{ gateways: number }[]>`select assay.limit_beat(${processId}) as gateways`,
      );
      return row?.gateways ?? 1;
    },
    async unregister(processId) {
      await inBackground(sql`delete from assay.limit_gateways where process_id = ${processId}`);
    },
    async deleteExpired(limit) {
      const [row] = await inBackground(sql<{ rows: string }[]>`select assay.limit_sweep(${limit}) as rows`);
      return Number(row?.rows ?? 0);
    },
  };
}

/**
 * A statement on a dead connection never ends. Statements that no call waits for must end too, so that they are retried on
 * another connection.
 */
const BACKGROUND_TIMEOUT_MS = 10_000;
const inBackground = <T>(statement: PromiseLike<T>) => answeredWithin(BACKGROUND_TIMEOUT_MS, statement);
