/** Reservations of an experiment's budget: for calls without a record yet, and for judgments that are not settled. */
import type { JudgedSize } from '#core/experiments/mod.ts';
import type { JudgmentPrice } from '#platform/evaluations/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { recordsAt } from '../queue/mod.ts';

/** Time for which a call that was begun counts as spent while its record is not stored: longer than a call may take. */
const RESERVED_FOR = '15 minutes';
/** Tokens of an answer whose record has none. */
const UNCOUNTED_ANSWER_TOKENS = 500;
/** Open judgments of evaluators without a measured cost that are looked at one by one. */
const MOST_SIZED = 500;

/** Selects what calls of an experiment `x` may cost that have no record yet, with the judgments of their answers. */
export function reservedForCalls(tx: TransactionSql) {
  return tx`
    select coalesce(sum(c.cost_nano), 0) as nano, count(*)::int4 as count from assay.experiment_calls c
     where c.experiment_id = x.experiment_id and not c.is_recorded and c.begun_at > now() - ${RESERVED_FOR}::interval`;
}

/**
 * Returns what the judgments of an experiment that are not settled may cost, in nano-dollars, and how many they are. Those that wait
 * for an evaluator to be resumed, or for the budget of another day, reserve nothing: an experiment would wait for them, too.
 * @param judgments prices by evaluator; those of others cost nothing
 */
export async function reservedForJudgments(
  tx: TransactionSql,
  experimentId: string,
  judgments: ReadonlyMap<string, JudgmentPrice>,
): Promise<{ nano: number; count: number }> {
  const counts = await tx<{ id: string; count: number }[]>`
    select e.evaluator_id as id, count(*)::int4 as count
      from ${openJudgments(tx, experimentId)} group by e.evaluator_id`;
  let [nano, count] = [0, 0];
  for (const counted of counts) {
    const price = judgments.get(counted.id);
    if (price === undefined) continue;
    count += counted.count;
    const cost = price.of(NO_SIZE);
    // Not known, whatever the size.
    if (cost === null) continue;
    if (price.isMeasured) nano += counted.count * cost.mostNano;
    // None of so many is finished yet: the next call waits until one is.
    else if (counted.count > MOST_SIZED) return { nano: Number.POSITIVE_INFINITY, count };
    else
      for (const size of await sizesOf(tx, experimentId, counted.id)) nano += price.of(size)?.mostNano ?? 0;
  }
  return { nano, count };
}

function openJudgments(tx: TransactionSql, experimentId: string) {
  return tx`
    assay.evaluations e
     where e.run_id = ${experimentId} and e.state in ('pending', 'running')
       and (e.state = 'running' or e.error_code is distinct from 'budget_exhausted')`;
}

const NO_SIZE: JudgedSize = { promptTokens: 0, answerTokens: UNCOUNTED_ANSWER_TOKENS };

/** Returns the tokens of what the open judgments of an evaluator judge, by the records. */
async function sizesOf(tx: TransactionSql, experimentId: string, evaluatorId: string): Promise<JudgedSize[]> {
  const evaluations = await tx<{ evaluationId: string; createdAt: Date }[]>`
    select e.evaluation_id::text as "evaluationId", e.created_at as "createdAt"
      from ${openJudgments(tx, experimentId)} and e.evaluator_id = ${evaluatorId}`;
  const times = evaluations.map(({ createdAt }) => createdAt);
  const { request } = recordsAt(tx, times, { created: 'created_at', id: 'request_id' });
  return await tx<JudgedSize[]>`
    select coalesce(r.prompt_tokens, 0)::float8 as "promptTokens",
           coalesce(r.completion_tokens, ${UNCOUNTED_ANSWER_TOKENS})::float8 as "answerTokens"
      from assay.evaluations e left join lateral ${request} r on true
     where e.evaluation_id = any(${evaluations.map(({ evaluationId }) => evaluationId)}::int8[])`;
}
