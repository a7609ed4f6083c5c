/** Ends experiments whose difference from their baseline is certain before all items were asked. */
import type { EarlyStopRule, Stop } from '#core/contracts/experiment.ts';
import { decisionOf, finiteProduct, PEEK_EVERY } from '#core/statistics/mod.ts';
import { changedItems, completeExperiment, type Sides } from '#platform/experiments/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** An experiment, as far as its looks need it. */
export type LookedAt = {
  experimentId: string;
  /** Null: it asks all items. */
  earlyStop: EarlyStopRule | null;
  /** Runs that had ended, and pairs that were looked at, at the last look. */
  lookedRuns: number;
  lookedPairs: number;
};

/** The chance of a false alarm over all looks. */
const ALPHA = 0.05;

/**
 * Looks at a locked experiment after each 25 pairs, and ends it when they decide. Runs that are under way end, and count.
 * @returns whether it has ended
 */
export async function endsEarly(
  tx: TransactionSql,
  { experimentId, earlyStop, lookedRuns, lookedPairs }: LookedAt,
): Promise<boolean> {
  if (earlyStop === null) return false;
  const [ended] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.experiment_runs
     where experiment_id = ${experimentId} and state in ('completed', 'error', 'skipped')`;
  if (ended!.count < lookedRuns + PEEK_EVERY) return false;
  const differences = await readDifferences(tx, experimentId, earlyStop.evaluatorId);
  const stop = decide(differences, lookedPairs, earlyStop);
  await tx`
    update assay.experiments
       set looked_runs = ${ended!.count}, looked_pairs = ${differences.length}, stopped = ${stop}, updated_at = now()
     where experiment_id = ${experimentId}`;
  if (stop === null) return false;
  await tx`
    update assay.experiment_runs
       set state = 'skipped', error_code = 'early_stop', error_message = 'The experiment was decided before', finished_at = now()
     where experiment_id = ${experimentId} and state = 'pending'`;
  await completeExperiment(tx, experimentId);
  return true;
}

/** Returns what the first of the looks since the last one decides; null: nothing. */
function decide(
  differences: readonly number[],
  lookedPairs: number,
  { margin, range }: EarlyStopRule,
): Stop | null {
  const first = Math.floor(lookedPairs / PEEK_EVERY) * PEEK_EVERY + PEEK_EVERY;
  for (let count = first; count <= differences.length; count += PEEK_EVERY) {
    const options = { alpha: ALPHA, direction: 'higher', margin, range } as const;
    const decision = decisionOf(differences.slice(0, count), options);
    if (decision !== 'continue') return decision;
  }
  return null;
}

/**
 * Reads the mean differences of independent groups (clusters, and items without one) in the order of the seed, up to the first
 * whose runs or grades are still to come: which groups are looked at must not depend on how they are answered.
 */
async function readDifferences(
  tx: TransactionSql,
  experimentId: string,
  evaluatorId: string,
): Promise<number[]> {
  const [sides] = await tx<[Sides]>`
    select baseline_experiment_id as "baselineId", experiment_id as "candidateId"
      from assay.experiments where experiment_id = ${experimentId}`;
  // Summed up as numerics: sums and squares of the largest doubles are an error of Postgres, and nothing would be claimed again.
  const rows = await tx<{ difference: string }[]>`
    with used as (
      select x.*, g.version as grader_version from assay.experiments x
       cross join lateral jsonb_to_recordset(x.evaluators) as g (id uuid, version int4)
       where x.experiment_id = ${experimentId} and g.id = ${evaluatorId}::uuid
    ), measured as (
      select r.experiment_id, r.item_id, min(r.position) as position, avg(e.score::numeric) as score,
             bool_and(r.state in ('error', 'skipped')
                      or (r.state = 'completed' and e.state is not null and e.state not in ('pending', 'running', 'paused'))) as is_settled
        from used
        join assay.experiment_runs r on r.experiment_id in (used.experiment_id, used.baseline_experiment_id)
        left join assay.evaluations e on e.organization_id = r.organization_id and e.request_id = r.request_id
                                     and e.evaluator_id = ${evaluatorId} and e.version = used.grader_version and e.probe = ''
       group by r.experiment_id, r.item_id
    ), groups as (
      select coalesce('c' || i.cluster, 'i' || i.item_id) as name, min(c.position) as position,
             bool_and(c.is_settled and coalesce(b.is_settled, true)) as is_settled, avg(c.score - b.score) as difference
        from used
        join assay.dataset_items i on i.dataset_id = used.dataset_id and i.from_version <= used.dataset_version
                                  and (i.to_version is null or i.to_version > used.dataset_version)
        join measured c on c.experiment_id = used.experiment_id and c.item_id = i.item_id
        left join measured b on b.experiment_id = used.baseline_experiment_id and b.item_id = i.item_id
                            and i.item_id not in (${changedItems(tx, sides)})
       group by 1
    )
    select difference::text as difference from groups
     where difference is not null
       and position < coalesce((select min(position) from groups where not is_settled), 2147483647)
     order by position`;
  return rows.map(({ difference }) => finiteProduct(Number(difference), 1));
}
