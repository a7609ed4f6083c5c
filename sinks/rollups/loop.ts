/** Recomputes stale buckets, a little at a time, for as long as the process runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import { FailureLog } from '#platform/observability/failure-log.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Metrics } from '#platform/observability/metrics.ts';
import { isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import { WakeUp } from '#platform/process/wake-up.ts';
import { restMs } from './pace.ts';
import { pruneRollups } from './prune.ts';
import { recompute } from './recompute.ts';
import { type DueBucket, dueAt, isDue, PATIENCE, TASKS, type Task } from './tasks.ts';

export type RollupLoopOptions = {
  sql: Sql;
  log: Logger;
  metrics: Metrics;
  /** Returns how long the loop may sleep unless a bucket is due before or `wake` is called, in milliseconds. */
  longestSleepMs(): number;
  /** Overrides the rest after each transaction, in milliseconds. */
  restMs?: number;
};

export type RollupLoop = {
  /** Tells that buckets were marked. */
  wake(): void;
  stop(): Promise<void>;
};

/** Rows that are too old are not read, and take space for so much longer. */
const PRUNE_EVERY_MS = 300_000;
/** Target duration of one transaction: others wait for the marks that it removes at its end. */
const AIM_MS = 150;
const MOST_BUCKETS = 500;
/** Part of the target below which the next turn gets twice as many buckets. More than half: one bucket takes half of it. */
const GROW_BELOW = 0.6;
/** Organizations that wait for others at most; with more, all are equal again. */
const MOST_SERVED = 100;
/** A bucket whose recomputation fails by itself is left out for so long; queries read its rows. */
const POSTPONE = '10 minutes';

type LoopMetrics = ReturnType<typeof createLoopMetrics>;

function createLoopMetrics(metrics: Metrics) {
  const labels = ['family', 'grain_seconds'] as const;
  return {
    buckets: metrics.counter('rollup_buckets_total', 'Buckets of roll-ups that were recomputed', labels),
    seconds: metrics.counter(
      'rollup_seconds_total',
      'Time of the transactions that recompute roll-ups',
      labels,
    ),
    failures: metrics.counter('rollup_failures_total', 'Recomputations of roll-ups that failed', labels),
  };
}

/** Recomputes until it is stopped. */
export function startRollupLoop(options: RollupLoopOptions): RollupLoop {
  const stopping = new AbortController();
  const wakeUp = new WakeUp();
  const running = run(options, wakeUp, stopping.signal);
  return {
    wake: () => wakeUp.wake(),
    async stop() {
      stopping.abort();
      wakeUp.wake();
      await running;
    },
  };
}

/** Returns the value of all, if they are one; else null. */
function onlyOne(values: readonly string[]): string | null {
  const [first = null] = values;
  return values.every((value) => value === first) ? first : null;
}

async function run(
  { sql, log, metrics, longestSleepMs, restMs: givenRestMs }: RollupLoopOptions,
  wakeUp: WakeUp,
  signal: AbortSignal,
): Promise<void> {
  const turns = new Turns(sql, log, createLoopMetrics(metrics), signal);
  const failures = new FailureLog(log);
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    const startedMs = performance.now();
    let lateness = 0;
    let isWork = false;
    let idleMs = 0;
    try {
      const turn = await turns.take();
      if (turn.kind === 'worked') lateness = turn.lateness;
      if (turn.kind === 'idle')
        idleMs = Math.min(Math.ceil(turn.dueInMs ?? longestSleepMs()), longestSleepMs());
      isWork = lateness > 0;
      if (performance.now() - prunedAtMs > PRUNE_EVERY_MS) {
        prunedAtMs = performance.now();
        isWork = (await pruneRollups(sql)) > 0 || isWork;
      }
    } catch (error) {
      if (signal.aborted) return;
      const isGone = isStoreUnavailable(error);
      const fields = { error: describeError(error) };
      failures.note(isGone ? 'warn' : 'error', fields, 'cannot recompute roll-ups; will try again');
    }
    const workedMs = isWork ? performance.now() - startedMs : 0;
    if (signal.aborted) return;
    if (idleMs > 0 && !isWork) await wakeUp.sleep(idleMs);
    else await sleep(givenRestMs ?? restMs(workedMs, lateness), undefined, { signal }).catch(() => {});
  }
}

/**
 * A task with work, and how late it is: time since its oldest due bucket was over and stale, as a multiple
 * of the time that such a bucket may wait. `besides`: organizations whose buckets have no turn.
 */
type Turn = { task: Task; lateness: number; besides: readonly string[] };

/** The result of a turn. `dueInMs`: time until the next bucket is due, in milliseconds; null: none is stale. */
type Taken =
  | { kind: 'worked'; lateness: number }
  | { kind: 'taken' }
  | { kind: 'idle'; dueInMs: number | null };

/**
 * Gives the latest task the next turn. None starves: the longer it waits, the later it is. An organization that had a turn for itself
 * waits until the others have had one: its hundred thousand buckets, which a few requests of old days make, would take hours.
 */
class Turns {
  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #metrics: LoopMetrics;
  readonly #signal: AbortSignal;
  readonly #limits = new Map<Task, number>();
  /** By task, how long a turn with one bucket took, in milliseconds. Over years of weeks, most of it is planning. */
  readonly #leastMs = new Map<Task, number>();
  /** Organizations that had a turn for themselves, and wait for the others. */
  #served: string[] = [];

  constructor(sql: Sql, log: Logger, metrics: LoopMetrics, signal: AbortSignal) {
    this.#sql = sql;
    this.#log = log;
    this.#metrics = metrics;
    this.#signal = signal;
  }

  /** Recomputes some buckets of the latest task, unless none is due, or another process recomputes. */
  async take(): Promise<Taken> {
    const turn = (await this.#nextOfOthers()) ?? (await this.#next([]));
    if (turn === null) return { kind: 'idle', dueInMs: await this.#nextDueInMs() };
    return (await this.#recompute(turn)) ? { kind: 'worked', lateness: turn.lateness } : { kind: 'taken' };
  }

  /** Returns a turn of organizations that wait for none; null when none of them has one, after which all are equal again. */
  async #nextOfOthers(): Promise<Turn | null> {
    const besides = this.#served;
    if (besides.length === 0) return null;
    const turn = (await this.#haveOthers(besides)) ? await this.#next(besides) : null;
    if (turn === null) this.#served = [];
    return turn;
  }

  /** Returns whether other organizations have stale buckets, due or not: by a probe for each, since these may have very many. */
  async #haveOthers(besides: readonly string[]): Promise<boolean> {
    const rows = await this.#sql`
      select from assay.organizations o
       where o.organization_id <> all(${[...besides]}::uuid[])
         and exists (select from assay.rollup_stale s where s.organization_id = o.organization_id) limit 1`;
    return rows.length > 0;
  }

  /** Buckets that are due by their time and wait for their parts are not counted: they come after their parts. */
  async #nextDueInMs(): Promise<number | null> {
    const sql = this.#sql;
    const [row] = await sql<{ dueInMs: number | null }[]>`
      select extract(epoch from min(due_at) - now())::float8 * 1000 as "dueInMs"
        from (select ${dueAt(sql)} as due_at from assay.rollup_stale stale) due where due_at > now()`;
    return row?.dueInMs ?? null;
  }

  /** @param besides organizations whose buckets are left out */
  async #next(besides: readonly string[]): Promise<Turn | null> {
    const sql = this.#sql;
    const oldest = TASKS.map(
      (task, place) => sql`
        (select ${place}::integer as place,
                extract(epoch from now() - greatest(stale.first_marked_at,
                  stale.begins_at + stale.grain_seconds * interval '1 second'))::float8 * 1000 as "waitedMs"
           from assay.rollup_stale stale where ${isDue(sql, task, true)}
            and stale.organization_id <> all(${[...besides]}::uuid[])
          order by stale.first_marked_at limit 1)`,
    );
    const rows = await sql<{ place: number; waitedMs: number }[]>`
      ${oldest.reduce((all, one) => sql`${all} union all ${one}`)}`;
    const turns = rows.map(({ place, waitedMs }): Turn => {
      const task = TASKS[place]!;
      return { task, lateness: waitedMs / PATIENCE[task.grainSeconds]!.longestMs, besides };
    });
    return turns.toSorted((left, right) => right.lateness - left.lateness)[0] ?? null;
  }

  /** Returns false when another process is recomputing. */
  async #recompute({ task, besides }: Turn): Promise<boolean> {
    const limit = this.#limits.get(task) ?? 1;
    const labels = { family: task.family, grain_seconds: String(task.grainSeconds) };
    const startedMs = performance.now();
    let due: readonly DueBucket[] = [];
    try {
      const done = await recompute({
        sql: this.#sql,
        task,
        limit,
        isPatient: true,
        organizationId: null,
        besides,
        onDue: (buckets) => {
          due = buckets;
        },
      });
      if (done === null) return false;
      const workedMs = performance.now() - startedMs;
      this.#metrics.buckets.inc(labels, done.buckets.length);
      this.#metrics.seconds.inc(labels, workedMs / 1_000);
      this.#noteServed(done.buckets);
      this.#adapt(task, limit, done.buckets.length, workedMs);
    } catch (error) {
      if (this.#signal.aborted || isStoreUnavailable(error)) throw error;
      this.#metrics.failures.inc(labels);
      this.#limits.set(task, Math.max(1, limit >> 2));
      this.#log.error(
        { ...labels, buckets: due.length, error: describeError(error) },
        'cannot recompute roll-ups',
      );
      if (due.length === 1) await this.#postpone(task, due[0]!);
    }
    return true;
  }

  #noteServed(buckets: readonly DueBucket[]): void {
    const only = onlyOne(buckets.map(({ organizationId }) => organizationId));
    this.#served = only === null || this.#served.length === MOST_SERVED ? [] : [...this.#served, only];
  }

  /** Adapts the number of buckets of a turn, so that it takes as long as it may, or twice as long as one bucket does. */
  #adapt(task: Task, limit: number, count: number, workedMs: number): void {
    if (count === 1) this.#leastMs.set(task, workedMs);
    const aimMs = Math.max(AIM_MS, 2 * (this.#leastMs.get(task) ?? 0));
    if (workedMs > aimMs) this.#limits.set(task, Math.max(1, limit >> 1));
    else if (count === limit && workedMs < GROW_BELOW * aimMs)
      this.#limits.set(task, Math.min(limit * 2, MOST_BUCKETS));
  }

  async #postpone({ family, grainSeconds }: Task, { organizationId, beginsAt }: DueBucket): Promise<void> {
    await this.#sql`
      update assay.rollup_stale set postponed_until = now() + ${POSTPONE}::interval
       where organization_id = ${organizationId} and family = ${family} and grain_seconds = ${grainSeconds}
         and begins_at = ${beginsAt}`;
  }
}
