/** The pairs of two experiments, and what judges said of them. */
import type { WinRateJson } from '#core/contracts/pairwise.ts';
import { pairLabel } from '#core/scoring/mod.ts';
import { type Preference, rateOf, settleOrders, winRateOf } from '#core/statistics/mod.ts';
import { changedItems, type Sides } from '#platform/experiments/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/**
 * Selects the items `p` that both sides have an answer of, and that were not changed in between, with the record of the first answer on each: `a` the baseline's, `b`
 * the candidate's. Both sides are read at once and grouped: Postgres takes their items for few, and would compare each with each.
 */
export function pairsOf(tx: TransactionSql, organizationId: string, sides: Sides) {
  const { baselineId, candidateId } = sides;
  const firstOf = (experimentId: string) =>
    tx`(array_agg(x.request_id order by x.repetition) filter (where x.experiment_id = ${experimentId}))[1]`;
  return tx`(
    select x.item_id, ${firstOf(baselineId)} as baseline, ${firstOf(candidateId)} as candidate
      from assay.experiment_runs x
     where x.experiment_id in (${baselineId}, ${candidateId}) and x.organization_id = ${organizationId}
       and x.state = 'completed' and x.request_id is not null and x.item_id not in (${changedItems(tx, sides)})
     group by x.item_id) p
      join assay.requests a on a.organization_id = ${organizationId} and a.request_id = p.baseline
      join assay.requests b on b.organization_id = ${organizationId} and b.request_id = p.candidate and p.candidate <> p.baseline`;
}

/** A judgment in one order; `score` is the candidate's, null without one. */
type Judgment = {
  evaluatorId: string;
  name: string;
  version: number;
  itemId: string;
  isBaselineFirst: boolean;
  score: number | null;
};

/**
 * Returns what each evaluator that has judged pairs of two experiments prefers, in its latest version that did.
 * @param evaluator restricts to one version of one evaluator; null: all
 */
export async function winRates(
  tx: TransactionSql,
  organizationId: string,
  sides: Sides,
  { evaluator, alpha }: { evaluator: { id: string; version: number } | null; alpha?: number },
): Promise<WinRateJson[]> {
  const [any] = await tx`
    select from assay.evaluations where organization_id = ${organizationId} and baseline_id <> '' limit 1`;
  if (any === undefined) return [];
  const judgments = await tx<Judgment[]>`
    select e.evaluator_id as "evaluatorId", v.name, e.version, p.item_id as "itemId", e.is_baseline_first as "isBaselineFirst",
           case when e.state = 'completed' then e.score end as score
      from ${pairsOf(tx, organizationId, sides)}
      join assay.evaluations e on e.organization_id = ${organizationId} and e.request_id = b.request_id
                              and e.created_at = b.created_at and e.baseline_id = a.request_id
      join assay.evaluators v on v.evaluator_id = e.evaluator_id
     where e.probe = '' and (${evaluator === null}
        or e.evaluator_id = ${evaluator?.id ?? null}::uuid and e.version = ${evaluator?.version ?? null}::int4)
     order by v.name, e.evaluator_id, e.version desc, p.item_id`;
  const latest = new Map<string, Judgment[]>();
  for (const judgment of judgments) {
    const same = latest.get(judgment.evaluatorId);
    if (same === undefined) latest.set(judgment.evaluatorId, [judgment]);
    else if (same[0]!.version === judgment.version) same.push(judgment);
  }
  return [...latest.values()].map((same) => winRateJson(same, alpha));
}

function winRateJson(judgments: readonly Judgment[], alpha?: number): WinRateJson {
  const { evaluatorId, name, version } = judgments[0]!;
  const byItem = Map.groupBy(judgments, ({ itemId }) => itemId);
  const orders = [...byItem.values()].flatMap((both): [Preference, Preference][] => {
    const [first, second] = [true, false].map((isFirst) =>
      both.find(({ isBaselineFirst, score }) => isBaselineFirst === isFirst && score !== null),
    );
    if (first === undefined || second === undefined) return [];
    return [[pairLabel(first.score!), pairLabel(second.score!)]];
  });
  const { pValue, ...rate } = winRateOf(
    orders.map(([baselineFirst, candidateFirst]) => settleOrders(baselineFirst, candidateFirst)),
    alpha,
  );
  const decided = judgments.filter(({ score }) => score !== null && pairLabel(score) !== 'tie');
  const first = decided.filter(
    ({ score, isBaselineFirst }) => isBaselineFirst === (pairLabel(score!) === 'baseline'),
  ).length;
  return {
    evaluator_id: evaluatorId,
    name,
    version,
    pairs: orders.length,
    incomplete: byItem.size - orders.length,
    ...rate,
    p_value: pValue,
    position: {
      inconsistent: orders.filter(([one, other]) => one !== other).length,
      first,
      second: decided.length - first,
      first_rate: rateOf(first, decided.length),
    },
  };
}
