/**
 * Costs of judgments: by the latest of the evaluator's version, and before there is one, by its template and the size of what is
 * judged. Estimates of runs and experiments, and what their budgets reserve, go by this alone.
 */
import {
  estimateJudgment,
  type JudgedSize,
  type Judges,
  type JudgmentCost,
  type Prices,
} from '#core/experiments/mod.ts';
import type { TransactionSql } from '../postgres/mod.ts';

/** Evaluations that tell what the next one costs: enough for a mean, and few enough to follow a change of the judge's price. */
const LATEST = 200;
/** Evaluations that are looked through for these. */
const LOOKED_THROUGH = 20_000;

export type JudgmentPrice = {
  /** True where evaluations so far tell the cost, whatever the size. */
  isMeasured: boolean;
  /** Returns the cost of one evaluation; null: it is not known. */
  of(size: JudgedSize): JudgmentCost | null;
};

type Grader = { id: string; version: number };
type Row = Omit<Judges, 'criteria'> & {
  id: string;
  criteria: Judges['criteria'] | null;
  likelyNano: number | null;
  mostNano: number | null;
};

/** Returns the prices of the evaluators among these that have judges and are not deleted; others cost nothing here. */
export async function readJudgmentPrices(
  tx: TransactionSql,
  organizationId: string,
  graders: readonly Grader[],
  { prices, atMs }: { prices: Prices; atMs: number },
): Promise<Map<string, JudgmentPrice>> {
  const rows = await tx<Row[]>`
    select v.evaluator_id as id, v.scoring_type as "scoringType", v.scope, w.llm_template as template, latest.*,
           (select json_agg(cw.llm_template)
              from jsonb_array_elements(w.llm_template -> 'criteria') as used (one)
              join assay.evaluators c on c.organization_id = v.organization_id and c.evaluator_id = (one ->> 'id')::uuid
                                     and c.deleted_at is null
              join assay.evaluator_versions cw on cw.evaluator_id = c.evaluator_id
                                              and cw.version = (one ->> 'version')::int4) as criteria
      from unnest(${graders.map(({ id }) => id)}::uuid[], ${graders.map(({ version }) => version)}::int4[]) as used (id, version)
      join assay.evaluators v on v.evaluator_id = used.id and v.organization_id = ${organizationId} and v.deleted_at is null
      join assay.evaluator_versions w on w.evaluator_id = used.id and w.version = used.version
     cross join lateral (${latestCosts(tx, tx`used.id`, tx`used.version`)}) latest
     where v.scoring_type like 'LLM-%'`;
  return new Map(
    rows.map(({ id, likelyNano, mostNano, criteria, ...judges }): [string, JudgmentPrice] => {
      if (likelyNano !== null && mostNano !== null) {
        const cost = { likelyNano, mostNano };
        return [id, { isMeasured: true, of: () => cost }];
      }
      const asked = { ...judges, criteria: criteria ?? [] };
      return [id, { isMeasured: false, of: (size) => estimateJudgment(prices, asked, size, atMs) }];
    }),
  );
}

/** Returns the mean cost of the latest evaluations of a version, in nano-dollars; null: it has none, or their costs are not known. */
export async function meanCostSoFar(tx: TransactionSql, { id, version }: Grader): Promise<number | null> {
  const [row] = await tx<
    { likelyNano: number | null }[]
  >`${latestCosts(tx, tx`${id}::uuid`, tx`${version}::int4`)}`;
  return row!.likelyNano;
}

type Expression = ReturnType<TransactionSql>;

/** Selects the mean and the largest cost of the latest evaluations of a version: a look-up, however many it has. */
function latestCosts(tx: TransactionSql, id: Expression, version: Expression) {
  // Skipped evaluations may be many, and the latest, where a budget was spent. They are passed over, and nothing is sorted.
  return tx`
    select avg(cost_nano)::float8 as "likelyNano", max(cost_nano)::float8 as "mostNano"
      from (select cost_nano
              from (select e.state, e.cost_nano from assay.evaluations e
                     where e.evaluator_id = ${id} and e.version = ${version} and e.finished_at is not null
                     order by e.finished_at desc limit ${LOOKED_THROUGH}) ended
             where state = 'completed' and cost_nano is not null limit ${LATEST}) latest`;
}
