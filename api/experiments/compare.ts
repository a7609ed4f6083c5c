/** Compares experiments over the same dataset: what each measured is read here, and computed in a thread. */
import {
  BUILT_IN_METRICS,
  type ClusterKind,
  type CompareBody,
  type ComparisonJson,
  type MetricComparisonJson,
} from '#core/contracts/comparison.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { WinRateJson } from '#core/contracts/pairwise.ts';
import type { CompareOptions, MetricKind, Run } from '#core/statistics/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { createThreadPool } from '#platform/process/thread-pool.ts';
import { readUuid, unknown, winRates } from '../evaluators/mod.ts';
import type { ComparedMetric, CompareTask, MetricTask } from './compare-thread.ts';
import type { Context } from './context.ts';
import {
  type EvaluatorFacts,
  findEvaluators,
  findItemFacts,
  findMeasured,
  type ItemFacts,
  type Measured,
  runsOf,
} from './measured.ts';

const DEFAULT_ALPHA = 0.05;
const DEFAULT_REGRESSIONS = 20;
/** A thread starts in some 50 ms. */
const IDLE_MS = 60_000;
/** Several times what 100,000 runs of 20 evaluators take. */
const THREAD_MEMORY_MB = 1_024;
/** Comparisons that wait for the thread. */
const MAX_WAITING = 32;

/** Compares for one organization. */
export type Compare = (organizationId: string, body: CompareBody) => Promise<ComparisonJson>;

let pool: ReturnType<typeof openPool> | null = null;

function openPool() {
  return createThreadPool<CompareTask, ComparedMetric[]>({
    module: new URL('./compare-thread.ts', import.meta.url),
    threadMemoryMb: THREAD_MEMORY_MB,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: MAX_WAITING,
    idleTimeout: IDLE_MS,
  });
}

type Sides = { baseline: Measured; candidate: Measured };
type Evaluators = ReadonlyMap<string, EvaluatorFacts>;
type LeftOut = ComparisonJson['candidates'][number]['left_out'];

export function createCompare({ sql }: Context): Compare {
  return async (organizationId, body) => {
    const { alpha = DEFAULT_ALPHA, margin = null, cluster = 'cluster', seed = 0 } = body;
    const { regressions = DEFAULT_REGRESSIONS } = body;
    const read = await readAll(sql, organizationId, body, { cluster, alpha });
    const { baseline, candidates, items, evaluators, preferences } = read;
    const options = { alpha, seed };
    const compared = [];
    for (const candidate of candidates) {
      const sides = { baseline, candidate };
      const { metrics, leftOut } = metricsOf(sides, { items, evaluators, options, margin });
      pool ??= openPool();
      const found = await pool.run({ metrics, regressions }, { name: 'compareInThread' });
      compared.push({
        ...named(candidate),
        metrics: found.map((metric) => withRequests(metric, sides, items)),
        left_out: leftOut,
        win_rates: preferences.get(candidate.experimentId)!,
      });
    }
    return { baseline: named(baseline), alpha, margin, cluster, candidates: compared };
  };
}

const named = ({ experimentId, name }: Measured) => ({ id: experimentId, name });

/** @throws AssayError not_found, invalid_body when the experiments are not over one dataset */
async function readAll(
  sql: Context['sql'],
  organizationId: string,
  body: CompareBody,
  { cluster, alpha }: { cluster: ClusterKind; alpha: number },
) {
  const ids = [body.baseline, ...body.candidates].map((id) => readUuid('experiment', id));
  if (new Set(ids).size < ids.length)
    throw new AssayError('invalid_body', 'baseline and candidates must be different experiments');
  return await inOrganization(sql, organizationId, async (tx) => {
    const [baseline, ...candidates] = await measuredOf(tx, organizationId, ids);
    for (const { datasetId, name } of candidates) {
      if (datasetId === baseline!.datasetId) continue;
      throw new AssayError(
        'invalid_body',
        `candidates must be over the dataset of the baseline, but "${name}" is over another`,
      );
    }
    const evaluatorIds = [baseline!, ...candidates].flatMap((one) => one.evaluators.map(({ id }) => id));
    const preferences = new Map<string, WinRateJson[]>();
    for (const { experimentId: candidateId } of candidates) {
      const sides = { baselineId: baseline!.experimentId, candidateId };
      preferences.set(candidateId, await winRates(tx, organizationId, sides, { evaluator: null, alpha }));
    }
    return {
      preferences,
      baseline: baseline!,
      candidates,
      items: await findItemFacts(tx, organizationId, baseline!, cluster),
      evaluators: await findEvaluators(tx, organizationId, evaluatorIds),
    };
  });
}

async function measuredOf(
  tx: TransactionSql,
  organizationId: string,
  ids: readonly string[],
): Promise<Measured[]> {
  const found = [];
  for (const id of ids) {
    const measured = await findMeasured(tx, organizationId, id);
    if (measured === undefined) throw unknown('experiment', id);
    found.push(measured);
  }
  return found;
}

type MetricsOptions = {
  items: ReadonlyMap<string, ItemFacts>;
  evaluators: Evaluators;
  options: Pick<CompareOptions, 'alpha' | 'seed'>;
  /** The margin of scores; other metrics have none. */
  margin: number | null;
};

/** Returns the metrics of two sides: the scores that both have in the same version, and the others. */
function metricsOf(
  { baseline, candidate }: Sides,
  { items, evaluators, options, margin }: MetricsOptions,
): { metrics: MetricTask[]; leftOut: LeftOut } {
  const clustered = (runs: readonly Run[]) =>
    runs.map((run) => ({ ...run, cluster: items.get(run.itemId)?.cluster ?? null }));
  const metrics: MetricTask[] = [];
  const leftOut: LeftOut = [];
  for (const { id, version } of baseline.evaluators) {
    const { name, scoringType } = evaluators.get(id)!;
    const other = candidate.evaluators.find((one) => one.id === id);
    if (other?.version !== version) {
      const reason =
        other === undefined
          ? 'The candidate does not use it'
          : `The baseline uses its version ${version}, the candidate its version ${other.version}`;
      leftOut.push({ evaluator_id: id, name, reason });
      continue;
    }
    const [before, after] = [baseline.scores.get(id)!, candidate.scores.get(id)!];
    const kind = kindOf(scoringType, [...before, ...after]);
    metrics.push({
      metric: 'score',
      evaluator_id: id,
      name,
      baseline: clustered(before),
      candidate: clustered(after),
      options: { ...options, margin, kind, direction: 'higher' },
    });
  }
  for (const { id } of candidate.evaluators) {
    if (baseline.evaluators.some((one) => one.id === id)) continue;
    leftOut.push({
      evaluator_id: id,
      name: evaluators.get(id)!.name,
      reason: 'The baseline does not use it',
    });
  }
  for (const metric of BUILT_IN_METRICS) {
    metrics.push({
      metric,
      evaluator_id: null,
      name: metric,
      baseline: clustered(runsOf(baseline, metric)),
      candidate: clustered(runsOf(candidate, metric)),
      options: {
        ...options,
        margin: null,
        kind: metric === 'errors' ? 'binary' : 'numeric',
        direction: 'lower',
      },
    });
  }
  return { metrics, leftOut };
}

/** Returns what the values of a score are: the steps of a judge's scale and of its choices need not be equal. */
function kindOf(scoringType: EvaluatorFacts['scoringType'], runs: readonly Run[]): MetricKind {
  if (runs.every(({ value }) => value === 0 || value === 1)) return 'binary';
  return scoringType === 'LLM-RANGE' || scoringType === 'LLM-CHOICE' ? 'ordinal' : 'numeric';
}

/** Adds the requests of regressed items, and what callers call the items. */
function withRequests(
  { regressions, ...metric }: ComparedMetric,
  { baseline, candidate }: Sides,
  items: ReadonlyMap<string, ItemFacts>,
): MetricComparisonJson {
  const requestOf = ({ rows }: Measured, itemId: string) =>
    rows.find((row) => row.itemId === itemId)?.requestId ?? null;
  return {
    ...metric,
    regressions: regressions.map(({ itemId, ...values }) => ({
      item_id: itemId,
      external_id: items.get(itemId)?.externalId ?? null,
      ...values,
      baseline_request_id: requestOf(baseline, itemId),
      candidate_request_id: requestOf(candidate, itemId),
    })),
  };
}
