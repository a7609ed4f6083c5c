/** The counters in Postgres: the functions of migrations 0005, 0010 and 0012, one round trip each. Rejects as postgres.js does. */

import type { WindowShape } from '#core/rate-limit/mod.ts';
import type { Sql } from '../postgres/mod.ts';
import { shownValue } from './counter-key.ts';
import type { Counter, Policy } from './types.ts';
import { within } from './within.ts';

/** A counter and the window that it is asked by, as the functions take them. */
export type StoreAsk = { counter: Counter; key: Buffer; policy: Policy; shape: WindowShape };

/** What a counter says. Durations are counted from `atMs`, a time on the counter's own clock. */
export type StoreAnswer = {
  /** Who was charged: the counter, or the one that takes those for whom there is no room. */
  key: Buffer;
  atMs: number;
  granted: number;
  /** With what is granted. */
  used: number;
  /** How long what is granted may be spent. */
  lifeMs: number;
  resetMs: number;
  retryMs: number;
};

/** Credit that was granted and not spent. */
export type Unspent = { organizationId: string; key: Buffer; atMs: number; amount: number };

/** What a hold is to be for: calls that wait, in order, and further ones. Amounts are nano-dollars. */
export type HoldWish = {
  /** Unique in the organization. */
  reservationId: string;
  estimatesNano: readonly number[];
  /** For further calls at most so much and one share of `shares` of what is left; nothing rather than less than `smallest`. */
  aheadNano: number;
  smallestNano: number;
  shares: number;
};
/** Of the calls that wait `granted` were admitted, the first ones. */
export type HoldAnswer = StoreAnswer & { aheadNano: number };

/** A call that was admitted so long ago, while the store was away. */
export type Missed = { reservationId: string; estimateNano: number; ageMs: number };

/** What a reservation is now. */
export type Settlement = {
  organizationId: string;
  reservationId: string;
  /** What its calls cost, and of those under way the estimates. */
  costNano: number;
  /** The store ignores what it hears after a word of a later turn. */
  turn: number;
  /** Calls are under way. */
  isOpen: boolean;
};

export type LimitStore = {
  /** Grants `need`, and ahead of need at most `ahead` and one share of `shares` of what is left. */
  take(
    ask: StoreAsk,
    want: { need: number; ahead: number; shares: number },
    back?: Unspent,
  ): Promise<StoreAnswer>;
  giveBack(unspent: readonly Unspent[]): Promise<void>;
  /** Counts what was admitted while the store was away. */
  count(ask: StoreAsk, amounts: readonly { ageMs: number; amount: number }[]): Promise<void>;
  /** Hears first what there is to tell of this counter; of reservations of others it hears nothing. */
  hold(ask: StoreAsk, wish: HoldWish, told?: readonly Settlement[]): Promise<HoldAnswer>;
  /** Reserves for calls whatever the quota; what is there already counts once. */
  reserveMissed(ask: StoreAsk, missed: readonly Missed[]): Promise<void>;
  /** Each reservation once. */
  settle(settlements: readonly Settlement[]): Promise<void>;
  peek(ask: StoreAsk): Promise<StoreAnswer>;
  /** Says that this gateway lives, null: only asks; returns how many do. */
  beat(processId: string | null): Promise<number>;
  leave(processId: string): Promise<void>;
  /** Deletes up to `most` of what expired; returns how much that was. */
  sweep(most: number): Promise<number>;
};

export type LimitStoreOptions = {
  /** Counters of values in an organization; those beyond are counted together. 700 bytes each. */
  maxCounters: number;
  /** How long a reservation is open; then it stays charged until it is settled. */
  openMs: number;
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

function toAnswer([row]: readonly AnswerRow[]): StoreAnswer {
  if (row === undefined) throw new Error('a function of the counters returned no row');
  return {
    key: row.counter_key,
    atMs: Number(row.at_ms),
    granted: Number(row.granted),
    used: Number(row.used),
    lifeMs: Number(row.life_ms),
    resetMs: Number(row.reset_ms),
    retryMs: Number(row.retry_ms),
  };
}

/** The counters of a database. */
export function createLimitStore(sql: Sql, { maxCounters, openMs }: LimitStoreOptions): LimitStore {
  const row = ({ counter, key, policy, shape }: StoreAsk) => sql`row(
    ${counter.organizationId}::uuid, ${key}::bytea, ${counter.apiKeyId}::uuid, ${counter.unit}::text,
    ${counter.segment}::text, ${shownValue(counter.value)}::text, ${maxCounters}::int, ${policy.windowS}::int,
    ${shape.widthMs}::int, ${shape.depth}::int, ${policy.quota}::bigint)::assay.limit_ask`;
  const words = (settlements: readonly Settlement[]) => sql`
    ${settlements.map(({ reservationId }) => reservationId)}::text[],
    ${settlements.map(({ costNano }) => costNano)}::bigint[], ${settlements.map(({ turn }) => turn)}::int[],
    ${settlements.map(({ isOpen }) => Number(isOpen))}::int[]::bool[]`;

  return {
    async take(ask, { need, ahead, shares }, back) {
      return toAnswer(
        await sql<AnswerRow[]>`
          select * from assay.limit_take(
            ${row(ask)}, ${need}, ${ahead}, ${shares},
            ${back?.key ?? null}, ${back?.atMs ?? null}, ${back?.amount ?? null})`,
      );
    },
    async giveBack(unspent) {
      await soon(sql`select assay.limit_give_back(
        ${unspent.map(({ organizationId }) => organizationId)}::uuid[],
        ${unspent.map(({ key }) => key.toString('hex'))}::text[],
        ${unspent.map(({ atMs }) => atMs)}::bigint[], ${unspent.map(({ amount }) => amount)}::bigint[])`);
    },
    async count(ask, amounts) {
      await soon(sql`select assay.limit_count(
        ${row(ask)}, ${amounts.map(({ ageMs }) => ageMs)}::bigint[],
        ${amounts.map(({ amount }) => amount)}::bigint[])`);
    },
    async hold(ask, { reservationId, estimatesNano, aheadNano, smallestNano, shares }, told = []) {
      const rows = await sql<(AnswerRow & { ahead: string })[]>`
        select (h.counter).*, h.ahead from assay.limit_hold(
          ${row(ask)}, ${reservationId}, ${[...estimatesNano]}::bigint[], ${aheadNano}, ${smallestNano}, ${shares},
          ${openMs}, ${words(told)}) h`;
      return { ...toAnswer(rows), aheadNano: Number(rows[0]?.ahead) };
    },
    async reserveMissed(ask, missed) {
      await soon(sql`select from assay.limit_reserve(
        ${row(ask)}, ${missed.map(({ reservationId }) => reservationId)}::text[],
        ${missed.map(({ estimateNano }) => estimateNano)}::bigint[],
        ${missed.map(({ ageMs }) => ageMs)}::bigint[], true, ${openMs})`);
    },
    async settle(settlements) {
      await soon(sql`select assay.limit_settle(
        ${settlements.map(({ organizationId }) => organizationId)}::uuid[], ${words(settlements)})`);
    },
    async peek(ask) {
      return toAnswer(await sql<AnswerRow[]>`select * from assay.limit_peek(${row(ask)})`);
    },
    async beat(processId) {
      const [beat] = await soon(
        processId === null
          ? sql<{ gateways: number }[]>`
              select count(*)::int as gateways from assay.limit_gateways
               where seen_at > clock_timestamp() - interval '10 seconds'`
          : sql<{ gateways: number }[]>`select assay.limit_beat(${processId}) as gateways`,
      );
      return beat?.gateways ?? 1;
    },
    async leave(processId) {
      await soon(sql`delete from assay.limit_gateways where process_id = ${processId}`);
    },
    async sweep(most) {
      const [swept] = await soon(sql<{ rows: string }[]>`select assay.limit_sweep(${most}) as rows`);
      return Number(swept?.rows ?? 0);
    },
  };
}

/** On a dead line a statement waits for ever; those that no caller waits for must end too, to be tried on another. */
const SOON_MS = 10_000;
const soon = <T>(statement: PromiseLike<T>) => within(SOON_MS, statement);
