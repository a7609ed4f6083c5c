/**
 * Finds the requests of a run: its sample, and its pages, from the newest back. What takes too long at once is looked through in
 * slices of time.
 */
import { compileFilter, Parameters, parseFilter } from '#core/filter/mod.ts';
import type { Scope } from '#core/scoring/mod.ts';
import { lastOfSession } from '#core/sessions/mod.ts';
import { type TransactionSql, withinTime } from '#platform/postgres/mod.ts';
import { oldestRequestMs, type Page, TimeSlices } from '#platform/records/mod.ts';

/** The requests that a run takes, and how far it has come. */
export type Walk = {
  runId: string;
  organizationId: string;
  evaluatorId: string;
  filter: unknown;
  until: Date;
  cursorCreatedAt: Date | null;
  cursorRequestId: string | null;
  /** Null: every request. */
  sampleSize: number | null;
  sampleSeed: string | null;
  /** The highest point of a request in the sample; null: not known yet. */
  sampleUntil: string | null;
  scope: Scope;
};

export type Key = { created_at: Date; request_id: string; session_id: string | null };

/**
 * The highest point of a sample, 0 of no requests; or how far the log was looked through, where there is more. `no room`: other
 * runs are looking for theirs.
 */
export type Sample = { until: string } | { reachedMs: number } | 'no room';

/** The lowest points in the slices that were looked through so far. */
type Search = { fromMs: number; points: Float64Array };

/** Time for one look. Runs take turns in one connection, and what takes longer is looked for in less of the log. */
const LOOK_MS = 10_000;
/** Searches for samples in slices at the same time: each holds up to a million points, 8 MB. */
const MAX_SEARCHES = 4;

export class RunRequests {
  readonly #lookMs: number;
  readonly #maxSearches: number;
  readonly #slices: TimeSlices;
  /** By run. In memory: a process that takes a run over begins its search anew. */
  readonly #searches = new Map<string, Search>();

  /**
   * @param lookMs overrides the time for one look
   * @param maxSearches overrides how many samples are looked for in slices at the same time
   */
  constructor(lookMs = LOOK_MS, maxSearches = MAX_SEARCHES) {
    this.#lookMs = lookMs;
    this.#slices = new TimeSlices(lookMs);
    this.#maxSearches = maxSearches;
  }

  /** Finds the next page of a run, of at most `limit` requests; it may have fewer before the end. */
  async nextPage(tx: TransactionSql, run: Walk, limit: number): Promise<Page<Key>> {
    return await this.#slices.nextPage(run.runId, reachedMs(run), limit, (floorMs) =>
      withinTime(tx, this.#lookMs, (apart) => selectPage(apart, run, limit, floorMs)),
    );
  }

  /**
   * Looks for the sample of a run: the requests with the lowest points, as online sampling would choose them. Only the highest
   * of these points is kept, and the walk passes over the requests above it.
   */
  async findSample(tx: TransactionSql, run: Walk): Promise<Sample> {
    const search = this.#searches.get(run.runId) ?? null;
    const fromMs = search?.fromMs ?? run.until.getTime();
    const floorMs = this.#slices.floorOf(run.runId, fromMs);
    if (search === null && floorMs === null) {
      return { until: await withinTime(tx, this.#lookMs, (apart) => selectSample(apart, run)) };
    }
    const known = search?.points ?? new Float64Array();
    if (search === null && !(await this.#hasRoom(tx))) return 'no room';
    const found = await this.#slices.timed(run.runId, () =>
      withinTime(tx, this.#lookMs, (apart) =>
        selectLowest(apart, run, known, search === null ? null : fromMs, floorMs),
      ),
    );
    const points = lowest(known, found, run.sampleSize!);
    if (floorMs === null) {
      this.#searches.delete(run.runId);
      return { until: String(points.at(-1) ?? 0) };
    }
    this.#searches.set(run.runId, { fromMs: floorMs, points });
    return { reachedMs: floorMs };
  }

  /**
   * Makes the slices of a run shorter, because one took too long.
   * @returns false when they cannot be shorter
   */
  async shorten(tx: TransactionSql, run: Walk): Promise<boolean> {
    const fromMs = this.#searches.get(run.runId)?.fromMs ?? reachedMs(run);
    return this.#slices.shorten(run.runId, fromMs, await oldestRequestMs(tx, run.organizationId));
  }

  /** Returns whether another search may begin. Those of runs that were paused or cancelled, or whose sample is known, are forgotten. */
  async #hasRoom(tx: TransactionSql): Promise<boolean> {
    if (this.#searches.size < this.#maxSearches) return true;
    const looking = await tx<{ runId: string }[]>`
      select r.run_id as "runId"
        from assay.evaluation_runs r join assay.evaluators e on e.evaluator_id = r.evaluator_id
       where r.run_id = any(${[...this.#searches.keys()]}::uuid[])
         and r.state = 'running' and r.sample_until is null and e.paused_reason is null`;
    for (const runId of this.#searches.keys())
      if (!looking.some((one) => one.runId === runId)) this.#searches.delete(runId);
    return this.#searches.size < this.#maxSearches;
  }
}

/** Returns where the walk of a run goes on. Without a request's id, its cursor says how far it looked for its sample. */
function reachedMs({ cursorCreatedAt, cursorRequestId, until }: Walk): number {
  return (cursorRequestId === null || cursorCreatedAt === null ? until : cursorCreatedAt).getTime();
}

function lowest(known: Float64Array, found: Float64Array, count: number): Float64Array {
  const all = new Float64Array(known.length + found.length);
  all.set(known);
  all.set(found, known.length);
  return all.sort().slice(0, count);
}

/**
 * Returns the conditions on a request `r` of a run: of a run over sessions, each session is evaluated at its newest request.
 * @param times the conditions of the slice on `r.created_at`. They come first: of conditions that Postgres takes for equally cheap,
 *   it checks the first one first, and to it a filter of texts is as cheap as a comparison of times. Where it reads a whole table,
 *   it would look at every text for the shortest slice.
 */
function conditionsOf(run: Walk, parameters: Parameters, times: readonly string[]): string[] {
  if (run.scope === 'session') {
    return [...times, ...lastOfSession({ ...run, filter: parseFilter(run.filter) }, parameters)];
  }
  return [
    ...times,
    `r.organization_id = ${parameters.bind(run.organizationId, 'uuid')}`,
    `r.source <> 'evaluator'`,
    `r.created_at <= ${bindTime(run.until, parameters)}`,
    compileFilter(parseFilter(run.filter), parameters, { joins: false }),
  ];
}

/** Returns the condition that a request `r` is not older than a slice; none where the slice has no floor. */
function fromFloor(floorMs: number | null, parameters: Parameters): string[] {
  return floorMs === null ? [] : [`r.created_at >= ${bindTime(new Date(floorMs), parameters)}`];
}

function bindTime(time: Date, parameters: Parameters): string {
  return parameters.bind(time.toISOString(), 'timestamptz');
}

/** Returns the point of a request `r`, or of its session, in the sampling of a run, of 2^48: the same 48 bits as `samplingPoint`. */
function pointOf({ evaluatorId, sampleSeed, scope }: Walk, parameters: Parameters): string {
  const sampled = scope === 'session' ? 'r.session_id' : 'r.request_id';
  const sampler = parameters.bind(sampleSeed === null ? evaluatorId : `${evaluatorId}/${sampleSeed}`, 'text');
  const digest = `sha256(convert_to(${sampler}, 'UTF8') || '\\x00'::bytea || convert_to(${sampled}, 'UTF8'))`;
  return `('x' || left(encode(${digest}, 'hex'), 12))::bit(48)::int8`;
}

/** Selects the highest point of a sample, of all requests at once. */
async function selectSample(tx: TransactionSql, run: Walk): Promise<string> {
  const parameters = new Parameters();
  const conditions = conditionsOf(run, parameters, []);
  const text = `
    select max(point) as until from (
      select ${pointOf(run, parameters)} as point from assay.requests r where ${conditions.join(' and ')}
       order by 1 limit ${run.sampleSize!}) sample`;
  const [row] = await tx.unsafe<{ until: string | null }[]>(text, parameters.values as string[]);
  return row?.until ?? '0';
}

/**
 * Selects the lowest points in a slice, those that may still be in the sample. Points have 48 bits, which doubles hold.
 * @param beforeMs null: the slice is the newest
 */
async function selectLowest(
  tx: TransactionSql,
  run: Walk,
  known: Float64Array,
  beforeMs: number | null,
  floorMs: number | null,
): Promise<Float64Array> {
  const parameters = new Parameters();
  const times = fromFloor(floorMs, parameters);
  if (beforeMs !== null) times.push(`r.created_at < ${bindTime(new Date(beforeMs), parameters)}`);
  const conditions = conditionsOf(run, parameters, times);
  const point = pointOf(run, parameters);
  if (known.length === run.sampleSize)
    conditions.push(`${point} < ${parameters.bind(String(known.at(-1)!), 'int8')}`);
  const text = `
    select string_agg(point::text, ' ') as points from (
      select ${point} as point from assay.requests r where ${conditions.join(' and ')}
       order by 1 limit ${run.sampleSize!}) lowest`;
  const [row] = await tx.unsafe<{ points: string | null }[]>(text, parameters.values as string[]);
  return Float64Array.from(row?.points?.split(' ') ?? [], Number);
}

async function selectPage(
  tx: TransactionSql,
  run: Walk,
  limit: number,
  floorMs: number | null,
): Promise<Key[]> {
  const parameters = new Parameters();
  const times = fromFloor(floorMs, parameters);
  if (run.cursorCreatedAt !== null && run.cursorRequestId !== null) {
    const at = bindTime(run.cursorCreatedAt, parameters);
    const id = parameters.bind(run.cursorRequestId, 'text');
    // The first follows from the second, which is two comparisons to Postgres, and so would come after the filter.
    times.push(`r.created_at <= ${at}`, `(r.created_at, r.request_id) < (${at}, ${id})`);
  }
  const conditions = conditionsOf(run, parameters, times);
  if (run.sampleUntil !== null) {
    conditions.push(`${pointOf(run, parameters)} <= ${parameters.bind(run.sampleUntil, 'int8')}`);
  }
  const text = `
    select r.created_at, r.request_id, r.session_id from assay.requests r where ${conditions.join(' and ')}
     order by r.created_at desc, r.request_id desc limit ${limit}`;
  return await tx.unsafe<Key[]>(text, parameters.values as string[]);
}
