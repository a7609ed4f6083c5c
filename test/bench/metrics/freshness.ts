/** The lag of roll-ups, and of the answers from them, behind the records that come in: measured once a second. */
import { setInterval } from 'node:timers/promises';
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import { FAMILY_NAMES, type FamilyName } from '#core/rollups/mod.ts';
import { readSinkLags } from '#platform/changes/mod.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import { planRollups } from '#platform/rollups/mod.ts';
import { ROLLUPS } from '../../../sinks/rollups/mod.ts';
import type { Call } from '../calls.ts';
import { sharedClockMs } from '../gateway/answered.ts';
import type { Committed } from '../incoming.ts';

/** Lags in milliseconds, by what lags: one for each look. */
export type Lags = ReadonlyMap<string, number[]>;

export type WatchFreshnessOptions = {
  call: Call;
  /** A connection as the owner, and one as the API's role. */
  owner: Sql;
  reader: Sql;
  organizationId: string;
  /** Called after each look. */
  onLook(): Promise<void>;
};

const LOOK_EVERY_MS = 1_000;
const HOUR_MS = 3_600_000;
/** A multiple of the finest grain of every family: where a bucket begins. */
const MINUTE_MS = 60_000;

/** The measurement, until it is stopped or its scope ends. */
type Freshness = AsyncDisposable & {
  /** Notes a batch that has come in. */
  note(batch: Committed): void;
  stop(): Promise<Lags>;
};

/** Begins to look; to be called before records come in. */
export async function watchFreshness(options: WatchFreshnessOptions): Promise<Freshness> {
  const { call, owner, reader, organizationId } = options;
  const startMs = Date.now();
  const lags = new Map<string, number[]>();
  const committed: Committed[] = [];
  const add = (name: string, lagMs: number) => {
    const values = lags.get(name) ?? [];
    lags.set(name, values);
    values.push(Math.max(0, lagMs));
  };
  const query: MetricsQueryBody = {
    measures: [{ metric: 'requests', aggregate: 'count' }],
    range: { from: startMs - 24 * HOUR_MS, to: startMs + 24 * HOUR_MS },
    bucket: 'none',
  };
  const ask = async () => {
    const { source, asOf, total } = (await call('/v1/metrics/query', query)) as MetricsAnswer;
    return { source, asOfMs: Date.parse(asOf), requests: total.total[0] ?? 0 };
  };
  const { requests: before } = await ask();

  async function lookAtAnswer(): Promise<void> {
    const [askedAtMs, sharedMs] = [Date.now(), sharedClockMs()];
    const { source, asOfMs, requests } = await ask();
    if (source !== 'rollup') return;
    add('answers from roll-ups: asOf', askedAtMs - asOfMs);
    while (committed.length > 0 && committed[0]!.stored <= requests - before) committed.shift();
    const missing = committed[0];
    add('answers from roll-ups: oldest record missing', missing === undefined ? 0 : sharedMs - missing.atMs);
  }

  async function look(): Promise<void> {
    await lookAtAnswer();
    const sink = (await readSinkLags(owner)).find(({ name }) => name === ROLLUPS.name);
    if (sink !== undefined) add('sink: oldest change not applied', sink.lagMs);
    for (const family of FAMILY_NAMES) {
      const lagMs = await readRowsLag(reader, organizationId, family, startMs);
      if (lagMs !== null) add(`${family}: oldest moment read from rows`, lagMs);
    }
    await options.onLook();
  }

  const stopping = new AbortController();
  const running = (async () => {
    for await (const _ of setInterval(LOOK_EVERY_MS, undefined, { signal: stopping.signal })) await look();
  })().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  // `stop` tells; until then nobody listens.
  running.catch(() => {});
  async function stop(): Promise<Lags> {
    stopping.abort();
    await running;
    return lags;
  }
  return {
    note: (batch) => {
      committed.push(batch);
    },
    stop,
    async [Symbol.asyncDispose]() {
      // `stop` tells of errors; here, one would hide the error that ends the scope.
      await stop().catch(() => {});
    },
  };
}

/**
 * Returns the age of the oldest moment since `sinceMs` whose requests are read from rows, because their finest bucket is still
 * to be computed: 0 when everything is in buckets, null before there are any.
 */
async function readRowsLag(
  reader: Sql,
  organizationId: string,
  family: FamilyName,
  sinceMs: number,
): Promise<number | null> {
  const nowMs = Date.now();
  const plan = await inOrganization(
    reader,
    organizationId,
    (tx) =>
      planRollups(tx, organizationId, {
        family,
        fromMs: Math.floor(sinceMs / MINUTE_MS) * MINUTE_MS,
        toMs: Math.ceil((nowMs + 1) / MINUTE_MS) * MINUTE_MS,
        boundariesMs: [],
      }),
    { isSnapshot: true },
  );
  if (plan === null) return null;
  const rows = plan.segments.find(({ grainSeconds }) => grainSeconds === 'rows');
  // A sink that is far behind has yet to mark the buckets of later changes.
  return nowMs - Math.max(sinceMs, Math.min(rows?.fromMs ?? nowMs, plan.asOfMs));
}
