/**
 * The budgets of runs and experiments: an evaluation begins where its cost, as it is estimated, fits into what is left. One that is
 * under way counts as spent until it is settled, whichever process makes it: the row of the run or experiment is locked meanwhile.
 */
import type { JudgedSize, Prices } from '#core/experiments/mod.ts';
import { type JudgmentPrice, readJudgmentPrices } from '#platform/evaluations/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { Job } from './job.ts';
import { recordsAt } from './records.ts';

/** How long a call that was begun counts as spent while its record is not stored: longer than a call may take. */
const RESERVED_FOR = '15 minutes';

/** Tokens of an answer whose record has none. */
const UNCOUNTED_ANSWER_TOKENS = 500;
/** How long the row of a run is waited for. */
const LOCK_TIMEOUT = '250ms';
/** Open judgments of evaluators without a measured cost that are looked at one by one. */
const MOST_SIZED = 500;

type Pricing = { prices: Prices; atMs: number };
type HoldOptions = Pricing & {
  /** Called with the error for which the evaluations of a run wait. */
  onFailed(runId: string, error: unknown): void;
};
type BudgetedJob = Job & { runId: string };

/**
 * Marks the jobs that their budget does not admit: those that wait until others are settled, and those for which there is nothing
 * to wait for. The jobs are claimed, so that other processes count them, and this one must not lose them: it never rejects.
 */
export async function holdToBudgets(sql: Sql, jobs: readonly Job[], options: HoldOptions): Promise<void> {
  const byRun = Map.groupBy(jobs.filter(isHeld), ({ runId }) => runId);
  for (const [runId, ofRun] of byRun) {
    try {
      await sql.begin(async (tx) => holdToBudget(tx, runId, ofRun, options));
    } catch (error) {
      options.onFailed(runId, error);
      for (const job of ofRun) job.waitsForRunBudget = true;
    }
  }
}

/** One that will not begin for another reason needs no money. */
function isHeld(job: Job): job is BudgetedJob {
  const { isDeleted, isPaused, isOverBudget } = job.evaluator;
  return job.hasRunBudget && !job.isRunOverBudget && !isDeleted && !isPaused && !isOverBudget;
}

async function holdToBudget(
  tx: TransactionSql,
  runId: string,
  jobs: readonly BudgetedJob[],
  pricing: Pricing,
): Promise<void> {
  const { organizationId } = jobs[0]!;
  const graders = jobs.map(({ evaluator: { id, version } }) => ({ id, version }));
  // Of a run and an experiment all evaluations of one evaluator have one version.
  const judgments = await readJudgmentPrices(tx, organizationId, distinct(graders), pricing);
  const paid = jobs.filter(({ evaluator }) => judgments.has(evaluator.id));
  if (paid.length === 0) return;
  const left = await lockBudget(tx, runId);
  if (left === null) return;
  const claimed = jobs.map(({ evaluationId }) => evaluationId);
  const others = await reservedForJudgments(tx, runId, judgments, { states: ['running'], except: claimed });
  const sizes = await sizesOf(
    tx,
    paid.filter(({ evaluator }) => !judgments.get(evaluator.id)!.isMeasured),
  );
  let leftNano = left.nano - others.nano;
  let isWaitedFor = left.calls + others.count > 0;
  for (const job of paid) {
    const size = sizes.get(job.evaluationId) ?? NO_SIZE;
    const cost = judgments.get(job.evaluator.id)!.of(size)?.mostNano ?? 0;
    if (leftNano > 0 && cost <= leftNano) {
      leftNano -= cost;
      isWaitedFor = true;
    } else if (isWaitedFor) job.waitsForRunBudget = true;
    else job.isRunOverBudget = true;
  }
  if (paid.some(({ isRunOverBudget }) => isRunOverBudget)) await endRun(tx, runId);
}

/** Ends a run over history, which schedules no further page. An experiment ends by its own runs. */
async function endRun(tx: TransactionSql, runId: string): Promise<void> {
  await tx`
    update assay.evaluation_runs set state = 'budget', updated_at = now()
     where run_id = ${runId} and state not in ('cancelled', 'budget')`;
}

/** Locks a run or an experiment, and returns what it may spend yet, and the calls whose cost is not known; null: it has no limit. */
async function lockBudget(
  tx: TransactionSql,
  runId: string,
): Promise<{ nano: number; calls: number } | null> {
  // Ingest may hold the row while it stores a batch, and the evaluations of all organizations that were claimed wait here.
  await tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
  await tx`select from assay.evaluation_runs where run_id = ${runId} for no key update`;
  await tx`select from assay.experiments where experiment_id = ${runId} for no key update`;
  // A statement of its own: it sees what was committed while the others waited.
  const [left] = await tx<{ nano: number; calls: number }[]>`
    select (max_cost_nano - spent_nano)::float8 as nano, 0 as calls
      from assay.evaluation_runs where run_id = ${runId} and max_cost_nano is not null
    union all
    select (x.max_cost_nano - x.spent_nano - x.judge_spent_nano - reserved.nano)::float8, reserved.count
      from assay.experiments x cross join lateral (${reservedForCalls(tx)}) reserved
     where x.experiment_id = ${runId} and x.max_cost_nano is not null`;
  return left ?? null;
}

/** Selects what calls of an experiment `x` may cost that have no record yet, with the judgments of their answers. */
export function reservedForCalls(tx: TransactionSql) {
  return tx`
    select coalesce(sum(c.cost_nano), 0) as nano, count(*)::int4 as count from assay.experiment_calls c
     where c.experiment_id = x.experiment_id and not c.is_recorded and c.begun_at > now() - ${RESERVED_FOR}::interval`;
}

/**
 * Returns what evaluations in these states may cost. Those that wait for an evaluator to be resumed, or for the budget of another
 * day, reserve nothing: they are held against the budget when they begin.
 */
export async function reservedForJudgments(
  tx: TransactionSql,
  runId: string,
  judgments: ReadonlyMap<string, JudgmentPrice>,
  { states, except = [] }: { states: readonly ('pending' | 'running')[]; except?: readonly string[] },
): Promise<{ nano: number; count: number }> {
  const open = tx`
    assay.evaluations e
     where e.run_id = ${runId} and e.state = any(${[...states]}::text[]) and e.error_code is distinct from 'budget_exhausted'
       and e.evaluation_id <> all(${[...except]}::int8[])`;
  const counts = await tx<{ id: string; count: number }[]>`
    select e.evaluator_id as id, count(*)::int4 as count from ${open} group by e.evaluator_id`;
  let [nano, count] = [0, 0];
  for (const counted of counts) {
    const price = judgments.get(counted.id);
    if (price === undefined) continue;
    count += counted.count;
    if (price.isMeasured) {
      nano += counted.count * (price.of(NO_SIZE)?.mostNano ?? 0);
      continue;
    }
    // So many that none is finished yet: the next begins after one is.
    if (counted.count > MOST_SIZED) return { nano: Number.POSITIVE_INFINITY, count };
    const unmeasured = await tx<Sized[]>`
      select e.evaluation_id::text as "evaluationId", e.created_at as "createdAt" from ${open} and e.evaluator_id = ${counted.id}`;
    const sizes = await sizesOf(tx, unmeasured);
    for (const { evaluationId } of unmeasured)
      nano += price.of(sizes.get(evaluationId) ?? NO_SIZE)?.mostNano ?? 0;
  }
  return { nano, count };
}

const NO_SIZE: JudgedSize = { promptTokens: 0, answerTokens: UNCOUNTED_ANSWER_TOKENS };

type Sized = { evaluationId: string; createdAt: Date };

/** Returns the tokens of what these evaluations judge, by the records. */
async function sizesOf(tx: TransactionSql, evaluations: readonly Sized[]): Promise<Map<string, JudgedSize>> {
  if (evaluations.length === 0) return new Map();
  const times = evaluations.map(({ createdAt }) => createdAt);
  const { request } = recordsAt(tx, times, { created: 'created_at', id: 'request_id' });
  const rows = await tx<(JudgedSize & { evaluationId: string })[]>`
    select e.evaluation_id::text as "evaluationId", coalesce(r.prompt_tokens, 0)::float8 as "promptTokens",
           coalesce(r.completion_tokens, ${UNCOUNTED_ANSWER_TOKENS})::float8 as "answerTokens"
      from assay.evaluations e left join lateral ${request} r on true
     where e.evaluation_id = any(${evaluations.map(({ evaluationId }) => evaluationId)}::int8[])`;
  return new Map(rows.map(({ evaluationId, ...size }) => [evaluationId, size]));
}

function distinct<Grader extends { id: string }>(graders: readonly Grader[]): Grader[] {
  return [...new Map(graders.map((one) => [one.id, one])).values()];
}
