/** Pairwise judging: each item of two experiments is judged in both orders, by evaluations as any others. */
import { type Static, Type } from '@sinclair/typebox';
import { AssayError } from '#core/contracts/errors.ts';
import { type PairwiseBody, type PairwiseDryRunJson, WinRateJson } from '#core/contracts/pairwise.ts';
import { closed, Nullable } from '#core/contracts/shapes.ts';
import { laneOf } from '#core/evaluations/mod.ts';
import { estimateJudgment, type JudgedSize } from '#core/experiments/mod.ts';
import { BUILT_IN_CATALOG } from '#core/models/mod.ts';
import { LEFT_FOR_WANT_OF_MONEY, orTakeOver } from '#platform/evaluations/mod.ts';
import type { Sides } from '#platform/experiments/mod.ts';
import { holdErasures, inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { readUuid, unknown } from '../ids.ts';
import { nanoToUsd } from '../requests/mod.ts';
import { announceEvaluations } from './announce-work.ts';
import type { Context } from './context.ts';
import { costSoFar } from './dry-run.ts';
import type { EvaluatorRow } from './evaluator-json.ts';
import { pairsOf, winRates } from './pairs.ts';
import { requireEvaluator } from './rules.ts';
import { RunJson } from './run-json.ts';
import { findRun, maxCostOf } from './runs.ts';
import { lockEvaluators } from './store.ts';

/** The progress and the result of one run over pairs. */
export const PairwiseJson = Type.Object(
  { run: RunJson, result: Nullable(WinRateJson, 'Null until a judgment is made') },
  { ...closed, $id: 'Pairwise' },
);
export type PairwiseJson = Static<typeof PairwiseJson>;

export type Pairwise = {
  create(
    organizationId: string,
    evaluatorId: string,
    body: PairwiseBody,
  ): Promise<RunJson | PairwiseDryRunJson>;
  get(organizationId: string, evaluatorId: string, runId: string): Promise<PairwiseJson>;
};

/** As for runs over history: after evaluations of incoming requests (0) and probes (1). */
const PRIORITY = 2;
/** Judgments of one organization that wait: those of 25,000 pairs. */
const MAX_OPEN_JUDGMENTS = 50_000;

async function readSides(tx: TransactionSql, organizationId: string, body: PairwiseBody): Promise<Sides> {
  const [baselineId, candidateId] = [
    readUuid('experiment', body.baseline),
    readUuid('experiment', body.candidate),
  ];
  if (baselineId === candidateId) {
    throw new AssayError('invalid_body', 'baseline and candidate must be different experiments');
  }
  const datasets = await tx<{ id: string; datasetId: string }[]>`
    select experiment_id as id, dataset_id as "datasetId" from assay.experiments
     where organization_id = ${organizationId} and experiment_id = any(${[baselineId, candidateId]}::uuid[])`;
  const [before, after] = [baselineId, candidateId].map((id) => {
    const found = datasets.find((one) => one.id === id);
    if (found === undefined) throw unknown('experiment', id);
    return found.datasetId;
  });
  if (before === after) return { baselineId, candidateId };
  throw new AssayError(
    'invalid_body',
    'candidate must be over the dataset of the baseline, but is over another',
  );
}

async function requirePairwise(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
): Promise<EvaluatorRow> {
  const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
  if (evaluator.scoring_type === 'LLM-PAIRWISE') return evaluator;
  throw new AssayError(
    'invalid_body',
    `Pairs are judged by an evaluator of the type LLM-PAIRWISE, but this one is of the type ${evaluator.scoring_type}`,
  );
}

async function dryRun(
  tx: TransactionSql,
  organizationId: string,
  evaluator: EvaluatorRow,
  { sides, atMs }: { sides: Sides; atMs: number },
): Promise<PairwiseDryRunJson> {
  const [sums] = await tx<{ pairs: number; judged: number; promptTokens: number; answerTokens: number }[]>`
    select count(*)::int4 as pairs, coalesce(sum(made.count), 0)::int4 as judged,
           coalesce(avg(b.prompt_tokens), 0)::float8 as "promptTokens",
           coalesce(avg(coalesce(a.completion_tokens, 0) + coalesce(b.completion_tokens, 0)), 0)::float8 as "answerTokens"
      from ${pairsOf(tx, organizationId, sides)}
     cross join lateral (
       select count(*) as count from assay.evaluations e
        where e.organization_id = ${organizationId} and e.request_id = b.request_id and e.created_at = b.created_at
          and e.baseline_id = a.request_id and e.evaluator_id = ${evaluator.evaluator_id} and e.version = ${evaluator.version}
          and e.probe = '' and not ${tx.unsafe(LEFT_FOR_WANT_OF_MONEY)}) made`;
  const { pairs, judged, promptTokens, answerTokens } = sums!;
  const each =
    (await costSoFar(tx, evaluator)) ??
    assumedCost(evaluator, { promptTokens, answerTokens: answerTokens / 2 }, atMs);
  const judgments = 2 * pairs;
  return {
    pairs,
    judgments,
    already_judged: judged,
    estimated_cost_usd: each === null ? null : nanoToUsd(String(Math.round(each * (judgments - judged)))),
  };
}

/** Returns the likely cost of one judgment in nano-dollars by the prices of its judge and its jury; null: one of them is not known. */
function assumedCost(
  { scoring_type, scope, llm_template }: EvaluatorRow,
  size: JudgedSize,
  atMs: number,
): number | null {
  const judges = { scoringType: scoring_type, scope, template: llm_template!, criteria: [] };
  return estimateJudgment(BUILT_IN_CATALOG, judges, size, atMs)?.likelyNano ?? null;
}

async function refuseTooMany(tx: TransactionSql, organizationId: string): Promise<void> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from (
      select from assay.evaluations where organization_id = ${organizationId} and baseline_id <> ''
         and state in ('pending', 'running', 'paused') limit ${MAX_OPEN_JUDGMENTS}) open`;
  if (row!.count < MAX_OPEN_JUDGMENTS) return;
  throw new AssayError(
    'conflict',
    `An organization can have at most ${MAX_OPEN_JUDGMENTS} judgments of pairs that wait: let them end, or cancel a run`,
  );
}

export function createPairwise({ sql, clock }: Pick<Context, 'sql' | 'clock'>): Pairwise {
  return {
    create: (organizationId, evaluatorId, body) =>
      inOrganization(sql, organizationId, async (tx) => {
        const maxCostNano = maxCostOf(body);
        const sides = await readSides(tx, organizationId, body);
        if (body.dryRun === true) {
          const evaluator = await requirePairwise(tx, organizationId, evaluatorId);
          return await dryRun(tx, organizationId, evaluator, { sides, atMs: clock.now() });
        }
        // Until the run is committed no erasure begins, which could miss its evaluations.
        await holdErasures(tx, organizationId);
        await lockEvaluators(tx, organizationId);
        const evaluator = await requirePairwise(tx, organizationId, evaluatorId);
        await refuseTooMany(tx, organizationId);
        const at = new Date(clock.now());
        const [made] = await tx<{ run_id: string }[]>`
          insert into assay.evaluation_runs
            (organization_id, evaluator_id, version, state, filter, max_cost_nano, until, baseline_experiment_id,
             candidate_experiment_id, created_at, updated_at)
          values
            (${organizationId}, ${evaluatorId}, ${evaluator.version}, 'scheduled', '"all"', ${maxCostNano}::int8, ${at},
             ${sides.baselineId}, ${sides.candidateId}, ${at}, ${at})
          returning run_id`;
        const runId = made!.run_id;
        const { count } = await tx`
          insert into assay.evaluations as e
            (organization_id, evaluator_id, version, created_at, request_id, baseline_id, baseline_created_at,
             is_baseline_first, run_id, lane, priority, due_at, scheduled_at)
          select ${organizationId}, ${evaluatorId}, ${evaluator.version}::int4, created_at, request_id, baseline_id,
                 baseline_created_at, is_baseline_first, ${runId}, ${laneOf(evaluator.scoring_type, null)}, ${PRIORITY}, ${at}::timestamptz,
                 ${at}::timestamptz
            -- Items that were made from one request have one pair of recorded answers.
            from (select distinct b.created_at, b.request_id, a.request_id as baseline_id, a.created_at as baseline_created_at
                    from ${pairsOf(tx, organizationId, sides)}) pairs
           cross join (values (true), (false)) as orders (is_baseline_first)
          ${orTakeOver(tx)}`;
        await tx`
          update assay.evaluation_runs set scheduled = ${count}::int4
           where organization_id = ${organizationId} and run_id = ${runId}`;
        await announceEvaluations(tx);
        return await findRun(tx, organizationId, evaluatorId, runId);
      }),

    get: (organizationId, evaluatorId, runId) =>
      inOrganization(sql, organizationId, async (tx) => {
        await requireEvaluator(tx, organizationId, evaluatorId);
        const run = await findRun(tx, organizationId, evaluatorId, runId);
        if (run.experiments === null) throw unknown('run over pairs', runId);
        const sides = { baselineId: run.experiments.baseline, candidateId: run.experiments.candidate };
        const evaluator = { id: evaluatorId, version: run.version };
        const [result = null] = await winRates(tx, organizationId, sides, { evaluator });
        return { run, result };
      }),
  };
}
