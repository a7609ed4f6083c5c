/** Estimates what an experiment takes and what it could find, from its rows, which a dry run does not keep. */

import type { Target } from '#core/contracts/experiment.ts';
import type { ExperimentEstimateJson } from '#core/contracts/experiment-estimate.ts';
import { nanoToUsd } from '#core/contracts/money.ts';
import {
  costOfBody,
  estimateCost,
  type JudgedSize,
  longestTokens,
  mostCompletionTokens,
  type Prices,
  requestOf,
} from '#core/experiments/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { detectableDifference, finiteProduct, type Interval, sampleDeviation } from '#core/statistics/mod.ts';
import { readJudgmentPrices } from '#platform/evaluations/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { inTurns } from '#platform/process/turns.ts';
import { findScoreRanges } from '../evaluators/mod.ts';
import type { Skipped } from './from-log.ts';
import { type Grader, gradersOf } from './graders.ts';
import { type Used, withCriteria } from './measured.ts';

/** Items whose texts are read for an estimate, the first by the seed: a sample. */
const SAMPLED = 200;
const SAMPLED_BYTES = 8 * 1024 * 1024;
/** Bytes of a token in English, and tokens of an answer of some length. */
const BYTES_PER_TOKEN = 4;
const ANSWER_TOKENS = 500;
/** Scores that tell how far those of an evaluator spread, and how few do not. */
const MAX_SCORES = 1_000;
const MIN_SCORES = 20;
/** The scale of an evaluator that names none. The widest spread on a scale is half of it: half of all scores lie at either end. */
const UNIT = { low: 0, high: 1 };

type Made = {
  experimentId: string;
  organizationId: string;
  skipped: Skipped;
  prices: Prices;
  nowMs: number;
};

type Experiment = {
  target: Target;
  concurrency: number;
  items: number;
  runs: number;
  groups: number;
};

/** Estimates an experiment that `tx` has made and will not keep. */
export async function estimateExperiment(tx: TransactionSql, made: Made): Promise<ExperimentEstimateJson> {
  const { experimentId, organizationId, skipped } = made;
  const [experiment] = await tx<Experiment[]>`
    select x.target, x.concurrency, n.*
      from assay.experiments x
     cross join lateral (
       select count(distinct r.item_id)::int4 as items,
              (count(*) filter (where r.state = 'pending'))::int4 as runs,
              count(distinct coalesce('c' || i.cluster, 'i' || i.item_id))::int4 as groups
         from assay.experiment_runs r
         join assay.dataset_items i on i.dataset_id = x.dataset_id and i.item_id = r.item_id
          and i.from_version <= x.dataset_version and (i.to_version is null or i.to_version > x.dataset_version)
        where r.experiment_id = x.experiment_id) n
     where x.experiment_id = ${experimentId}`;
  const { items, runs, groups, target } = experiment!;
  const graders = await gradersOf(tx, experimentId);
  const isCalled = target.kind !== 'recorded' && target.kind !== 'external';
  const sampled = await sampleItems(tx, experimentId);
  const priced = await priceSample(made, target, sampled);
  const calls = isCalled ? runs : 0;
  const judges = await judgeCosts(tx, made, { graders, runs, priced });
  const used = await withCriteria(tx, organizationId, graders);
  const ranges = await findScoreRanges(tx, organizationId, used);
  const detectable = [];
  for (const one of used) {
    const scored = { ...one, range: ranges.get(one.id) ?? null };
    detectable.push(await detectableBy(tx, organizationId, scored, groups));
  }
  return {
    items,
    skipped,
    runs: calls,
    answers_cost_usd: usdOf(scaledUp(priced.likely, calls)),
    at_most_usd: usdOf(add(scaledUp(priced.most, calls), judges.most)),
    judge_cost_usd: usdOf(judges.likely),
    duration_ms: isCalled ? durationOf(sampled, runs / experiment!.concurrency) : 0,
    groups,
    detectable,
  };
}

type Sampled = {
  /** JSON as text, as is the metadata. */
  request: string | null;
  metadata: string;
  promptTokens: number | null;
  completionTokens: number | null;
  latencyMs: number | null;
};

async function sampleItems(tx: TransactionSql, experimentId: string): Promise<Sampled[]> {
  return await tx<Sampled[]>`
    select * from (
      select i.request, i.metadata, q.prompt_tokens as "promptTokens", q.completion_tokens as "completionTokens",
             q.latency_ms as "latencyMs", r.position,
             sum(octet_length(i.request)) over (order by r.position) - octet_length(i.request) as before
        from assay.experiments x
        join assay.experiment_runs r on r.experiment_id = x.experiment_id and r.repetition = 1
        join assay.dataset_items i on i.dataset_id = x.dataset_id and i.item_id = r.item_id
         and i.from_version <= x.dataset_version and (i.to_version is null or i.to_version > x.dataset_version)
        left join assay.requests q on q.organization_id = x.organization_id and q.request_id = i.source_request_id
       where x.experiment_id = ${experimentId} order by r.position limit ${SAMPLED}
    ) r
     where coalesce(before, 0) < ${SAMPLED_BYTES} order by position`;
}

/** Costs of the calls of a sample, and sizes of their answers for judges. Null: a price is not known. */
type Priced = {
  likely: (number | null)[];
  most: (number | null)[];
  likelySizes: JudgedSize[];
  mostSizes: JudgedSize[];
};

/** Prices the calls of a sample; recorded answers, and those of jobs, cost nothing. */
async function priceSample(
  { prices, nowMs }: Made,
  target: Target,
  sampled: readonly Sampled[],
): Promise<Priced> {
  const priced: Priced = { likely: [], most: [], likelySizes: [], mostSizes: [] };
  const isCalled = target.kind !== 'recorded' && target.kind !== 'external';
  const add = ({ request, metadata, promptTokens, completionTokens }: Sampled): void => {
    if (request === null) return;
    const item = {
      request: JSON.parse(request) as JsonObject,
      metadata: JSON.parse(metadata) as JsonObject,
    };
    const call = isCalled ? requestOf(target, item) : { body: item.request };
    if ('skipped' in call) return;
    const limit = mostCompletionTokens(call.body) ?? Number.POSITIVE_INFINITY;
    const tokens = {
      prompt: promptTokens ?? Math.ceil(Buffer.byteLength(JSON.stringify(call.body)) / BYTES_PER_TOKEN),
      completion: Math.min(completionTokens ?? ANSWER_TOKENS, limit),
    };
    const longest = longestTokens(call.body);
    priced.likelySizes.push({ promptTokens: tokens.prompt, answerTokens: tokens.completion });
    priced.mostSizes.push({ promptTokens: longest.prompt, answerTokens: longest.completion });
    if (!isCalled) return;
    priced.likely.push(costOfBody(prices, call.body, tokens, nowMs));
    priced.most.push(estimateCost(prices, target, item, nowMs));
  };
  let done = 0;
  await inTurns(() => {
    const next = sampled[done];
    if (next !== undefined) add(next);
    done += 1;
    return done >= sampled.length;
  });
  return priced;
}

/** Returns the sum of so many values of which these are a sample; null: one of them is not known. */
function scaledUp(values: readonly (number | null)[], count: number): number | null {
  if (values.length === 0 || count === 0) return 0;
  if (values.includes(null)) return null;
  const sum = (values as number[]).reduce((total, value) => total + value, 0);
  return (sum / values.length) * count;
}

const usdOf = (nano: number | null) => (nano === null ? null : nanoToUsd(String(Math.round(nano))));

/** Returns the time of so many rounds of calls; null: no latency is known. */
function durationOf(sampled: readonly Sampled[], rounds: number): number | null {
  const known = sampled.flatMap(({ latencyMs }) => latencyMs ?? []);
  if (known.length === 0) return null;
  const mean = known.reduce((total, value) => total + value, 0) / known.length;
  return Math.round(mean * Math.max(1, rounds));
}

/** Returns what judges cost: of the calls to come, and of recorded answers that are not graded yet. Null: it is not known. */
async function judgeCosts(
  tx: TransactionSql,
  { organizationId, experimentId, prices, nowMs }: Made,
  { graders, runs, priced }: { graders: readonly Grader[]; runs: number; priced: Priced },
): Promise<{ likely: number | null; most: number | null }> {
  const scheduled = await tx<{ id: string; count: number }[]>`
    select evaluator_id as id, count(*)::int4 as count from assay.evaluations
     where run_id in (select unnest(array[x.experiment_id, x.baseline_experiment_id])
                        from assay.experiments x where x.experiment_id = ${experimentId})
       and state = 'pending' group by evaluator_id`;
  const judgments = await readJudgmentPrices(tx, organizationId, graders, { prices, atMs: nowMs });
  const sums = { likely: [] as (number | null)[], most: [] as (number | null)[] };
  for (const [id, price] of judgments) {
    const count = runs + (scheduled.find((one) => one.id === id)?.count ?? 0);
    const likely = priced.likelySizes.map((size) => price.of(size)?.likelyNano ?? null);
    const most = priced.mostSizes.map((size) => price.of(size)?.mostNano ?? null);
    sums.likely.push(scaledUp(likely, count));
    sums.most.push(scaledUp(most, count));
  }
  return { likely: add(...sums.likely), most: add(...sums.most) };
}

function add(...values: (number | null)[]): number | null {
  return values.includes(null) ? null : (values as number[]).reduce((total, value) => total + value, 0);
}

/** An evaluator in the version that grades, with its scale; null: it names none. */
type Scored = Used & { range: Interval | null };

/** Returns the difference that the scores of an evaluator can show, by how far the latest of its version spread. */
async function detectableBy(
  tx: TransactionSql,
  organizationId: string,
  { id, version, range }: Scored,
  groups: number,
) {
  const [found] = await tx<{ name: string; scores: number[] }[]>`
    select e.name, array(
             select score from assay.evaluations
              where organization_id = ${organizationId} and evaluator_id = e.evaluator_id and version = ${version}::int4
                and state = 'completed' and probe = '' and score is not null
              order by created_at desc limit ${MAX_SCORES}) as scores
      from assay.evaluators e where e.evaluator_id = ${id}`;
  const { name, scores } = found!;
  // Scores that were all the same do not show how far others spread: by them, a difference of 0 could be found.
  const isKnown = scores.length >= MIN_SCORES && scores.some((score) => score !== scores[0]);
  const { low, high } = range ?? UNIT;
  const spread = isKnown ? sampleDeviation(scores)! : high / 2 - low / 2;
  // Of two scores without anything in common, the variance of the difference is the sum of theirs.
  const difference = detectableDifference(Math.SQRT2 * spread, groups);
  return {
    evaluator_id: id,
    name,
    difference: difference === null ? null : finiteProduct(difference, 1),
    scores: isKnown ? scores.length : 0,
  };
}
