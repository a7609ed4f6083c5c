/** The counters in Postgres: the functions of migrations 0005, 0010 and 0012, one round trip each. Rejects as postgres.js does. */

import type { WindowShape } from '#core/rate-limit/mod.ts';
import type { Sql } from '../postgres/mod.ts';
import { displayValue } from './counter-key.ts';
import type { Counter, Policy } from './types.ts';
import { within } from './within.ts';

/** A counter and the window that it is asked by, as the functions take them. */
export type CounterQuery = { counter: Counter; key: Buffer; policy: Policy; shape: WindowShape };

/** What a counter says. Durations are counted from `atMs`, a time on the counter's own clock. */
export type CounterSnapshot = {
  /** Who was charged: the counter, or the one that takes those for whom there is no room. */
  key: Buffer;
  atMs: number;
  granted: number;
  /** With what is granted. */
  used: number;
  /** How long what is granted may be spent. */
  spendableMs: number;
  resetMs: number;
  retryMs: number;
};

/** Credit that was granted and not spent. */
export type UnusedCredits = { organizationId: string; key: Buffer; atMs: number; amount: number };

/** What a hold is to be for: calls that wait, in order, and further ones. Amounts are nano-dollars. */
export type HoldRequest = {
  /** Unique in the organization. */
  reservationId: string;
  estimatesNano: readonly number[];
  /** For further calls at most so much and one share of `shares` of what is left; nothing rather than less than `smallest`. */
  prefetchNano: number;
  minPrefetchNano: number;
  shares: number;
};
/** Of the calls that wait `granted` were admitted, the first ones. */
export type HoldGrant = CounterSnapshot & { prefetchedNano: number };

/** A call that was admitted so long ago, while the store was away. */
export type DegradedReservation = { reservationId: string; estimateNano: number; ageMs: number };

/** What a reservation is now. */
export type Settlement = {
  organizationId: string;
  reservationId: string;
  /** What its calls cost, and of those under way the estimates. */
  costNano: number;
  /** The store ignores what it hears after a word of a later turn. */
  revision: number;
  /** Calls are under way. */
  isOpen: boolean;
};

export type CounterStore = {
  /** Grants `need`, and ahead of need at most `ahead` and one share of `shares` of what is left. */
  leaseCredits(
    ask: CounterQuery,
    want: { need: number; ahead: number; shares: number },
    back?: UnusedCredits,
  ): Promise<CounterSnapshot>;
  returnCredits(unspent: readonly UnusedCredits[]): Promise<void>;
  /** Counts what was admitted while the store was away. */
  countDegraded(ask: CounterQuery, amounts: readonly { ageMs: number; amount: number }[]): Promise<void>;
  /** Hears first what there is to tell of this counter; of reservations of others it hears nothing. */
  reserve(ask: CounterQuery, wish: HoldRequest, told?: readonly Settlement[]): Promise<HoldGrant>;
  /** Reserves for calls whatever the quota; what is there already counts once. */
  reserveDegraded(ask: CounterQuery, missed: readonly DegradedReservation[]): Promise<void>;
  /** Each reservation once. */
  settle(settlements: readonly Settlement[]): Promise<void>;
  peek(ask: CounterQuery): Promise<CounterSnapshot>;
  /** Says that this gateway lives, null: only asks; returns how many do. */
  heartbeat(processId: string | null): Promise<number>;
  unregister(processId: string): Promise<void>;
  /** Deletes up to `most` of what expired; returns how much that was. */
  deleteExpired(most: number): Promise<number>;
};

export type CounterStoreOptions = {
  /** Counters of values in an organization; those beyond are counted together. 700 bytes each. */
  maxCounters: number;
  /** How long a reservation is open; then it stays charged until it is settled. */
  reservationTtlMs: number;
};

type AnswerRow = {
  counter_key: Buffer;
  at_ms: string;
  granted: string;
  used: string;
  life_ms: string;
  reset_ms: string;
  retry_ms: string;
};

function toAnswer([row]: readonly AnswerRow[]): CounterSnapshot {
  if (row === undefined) throw new Error('a function of the counters returned no row');
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

/** The counters of a database. */
export function createCounterStore(
  sql: Sql,
  { maxCounters, reservationTtlMs }: CounterStoreOptions,
): CounterStore {
  const row = ({ counter, key, policy, shape }: CounterQuery) => sql`row(
    ${counter.organizationId}::uuid, ${key}::bytea, ${counter.apiKeyId}::uuid, ${counter.unit}::text,
    ${counter.segment}::text, ${displayValue(counter.value)}::text, ${maxCounters}::int, ${policy.windowS}::int,
    ${shape.widthMs}::int, ${shape.depth}::int, ${policy.quota}::bigint)::assay.limit_ask`;
  const words = (settlements: readonly Settlement[]) => sql`
    ${settlements.map(({ reservationId }) => reservationId)}::text[],
    ${settlements.map(({ costNano }) => costNano)}::bigint[], ${settlements.map(({ revision }) => revision)}::int[],
    ${settlements.map(({ isOpen }) => Number(isOpen))}::int[]::bool[]`;

  return {
    async leaseCredits(ask, { need, ahead, shares }, back) {
      return toAnswer(
        await sql<AnswerRow[]>`
          select * from assay.limit_take(
            ${row(ask)}, ${need}, ${ahead}, ${shares},
            ${back?.key ?? null}, ${back?.atMs ?? null}, ${back?.amount ?? null})`,
      );
    },
    async returnCredits(unspent) {
      await soon(sql`select assay.limit_give_back(
        ${unspent.map(({ organizationId }) => organizationId)}::uuid[],
        ${unspent.map(({ key }) => key.toString('hex'))}::text[],
        ${unspent.map(({ atMs }) => atMs)}::bigint[], ${unspent.map(({ amount }) => amount)}::bigint[])`);
    },
    async countDegraded(ask, amounts) {
      await soon(sql`select assay.limit_count(
        ${row(ask)}, ${amounts.map(({ ageMs }) => ageMs)}::bigint[],
        ${amounts.map(({ amount }) => amount)}::bigint[])`);
    },
    async reserve(ask, { reservationId, estimatesNano, prefetchNano, minPrefetchNano, shares }, told = []) {
      const rows = await sql<(AnswerRow & { ahead: string })[]>`
        select (h.counter).*, h.ahead from assay.limit_hold(
          ${row(ask)}, ${reservationId}, ${[...estimatesNano]}::bigint[], ${prefetchNano}, ${minPrefetchNano}, ${shares},
          ${reservationTtlMs}, ${words(told)}) h`;
      return { ...toAnswer(rows), prefetchedNano: Number(rows[0]?.ahead) };
    },
    async reserveDegraded(ask, missed) {
      await soon(sql`select from assay.limit_reserve(
        ${row(ask)}, ${missed.map(({ reservationId }) => reservationId)}::text[],
        ${missed.map(({ estimateNano }) => estimateNano)}::bigint[],
        ${missed.map(({ ageMs }) => ageMs)}::bigint[], true, ${reservationTtlMs})`);
    },
    async settle(settlements) {
      await soon(sql`select assay.limit_settle(
        ${settlements.map(({ organizationId }) => organizationId)}::uuid[], ${words(settlements)})`);
    },
    async peek(ask) {
      return toAnswer(await sql<AnswerRow[]>`select * from assay.limit_peek(${row(ask)})`);
    },
    async heartbeat(processId) {
      const [beat] = await soon(
        processId === null
          ? sql<{ gateways: number }[]>`
              select count(*)::int as gateways from assay.limit_gateways
               where seen_at > clock_timestamp() - interval '10 seconds'`
          : sql<{ gateways: number }[]>`select assay.limit_beat(${processId}) as gateways`,
      );
      return beat?.gateways ?? 1;
    },
    async unregister(processId) {
      await soon(sql`delete from assay.limit_gateways where process_id = ${processId}`);
    },
    async deleteExpired(most) {
      const [swept] = await soon(sql<{ rows: string }[]>`select assay.limit_sweep(${most}) as rows`);
      return Number(swept?.rows ?? 0);
    },
  };
}

/** On a dead line a statement waits for ever; those that no caller waits for must end too, to be tried on another. */
const SOON_MS = 10_000;
const soon = <T>(statement: PromiseLike<T>) => within(SOON_MS, statement);
