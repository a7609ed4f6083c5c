/** Compares experiments over the same dataset: what each measured is read here, and computed in a thread. */

import type {
  ClusterKind,
  CompareBody,
  ComparisonJson,
  MetricComparisonJson,
} from '#core/contracts/comparison.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { WinRateJson } from '#core/contracts/pairwise.ts';
import type { Confusion } from '#core/statistics/mod.ts';
import { changedItems } from '#platform/experiments/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { FairSlots } from '#platform/process/fair-slots.ts';
import { createThreadPool } from '#platform/process/thread-pool.ts';
import { findConfusion, findScoreRanges, winRates } from '../evaluators/mod.ts';
import { readUuid, unknown } from '../ids.ts';
import type { CompareTask } from './compare-thread.ts';
import type { Context } from './context.ts';
import { type EvaluatorFacts, findEvaluators, findItems, findMeasured, type Measured } from './measured.ts';
import { metricsOf, type WantedMetric, wantedOf } from './metrics.ts';

const DEFAULT_ALPHA = 0.05;
const DEFAULT_REGRESSIONS = 20;
/** A thread starts in some 50 ms. */
const IDLE_MS = 60_000;
/** The largest comparison of two sides takes more than a minute of a thread: those of others go to the other one. */
const MAX_THREADS = 2;
/** Enough for 100,000 runs of 20 evaluators on both sides. */
const THREAD_MEMORY_MB = 1_024;
/** Comparisons at a time, each of another organization: some are computed while the next are read. */
const MAX_UNDER_WAY = 4;
const MAX_WAITING_OF_ONE = 8;

/**
 * Compares for one organization.
 * @param wanted the metrics; default: those of the body, with its margin for scores
 * @throws AssayError not_found, invalid_body
 */
export type Compare = (
  organizationId: string,
  body: CompareBody,
  wanted?: readonly WantedMetric[] | null,
) => Promise<ComparisonJson>;

let pool: ReturnType<typeof openPool> | null = null;

function openPool() {
  return createThreadPool<CompareTask, MetricComparisonJson[]>({
    module: new URL('./compare-thread.ts', import.meta.url),
    threadMemoryMb: THREAD_MEMORY_MB,
    minThreads: 0,
    maxThreads: MAX_THREADS,
    idleTimeout: IDLE_MS,
  });
}

export function createCompare({ sql }: Pick<Context, 'sql'>): Compare {
  const slots = new FairSlots({
    count: MAX_UNDER_WAY,
    ofOne: 1,
    maxWaiting: Number.POSITIVE_INFINITY,
    maxWaitingOfOne: MAX_WAITING_OF_ONE,
  });
  return async (organizationId, body, wanted = wantedOf(body)) => {
    const found = await slots.run(organizationId, () => compare(sql, organizationId, body, wanted));
    if (found !== null) return found;
    throw new AssayError(
      'too_many_comparisons',
      `The organization has ${MAX_WAITING_OF_ONE} comparisons waiting, which is the most: try again when one has ended`,
    );
  };
}

async function compare(
  sql: Context['sql'],
  organizationId: string,
  body: CompareBody,
  wanted: readonly WantedMetric[] | null,
): Promise<ComparisonJson> {
  const { alpha = DEFAULT_ALPHA, margin = null, cluster = 'cluster', seed = 0 } = body;
  const { regressions = DEFAULT_REGRESSIONS } = body;
  const read = await readAll(sql, organizationId, body, { cluster, alpha });
  const { baseline, candidates, items, changed, evaluators, ranges, confusions, preferences } = read;
  const compared = [];
  for (const candidate of candidates) {
    const sides = { baseline, candidate };
    const { metrics, leftOut } = metricsOf(sides, { evaluators, ranges, confusions, margin, wanted });
    pool ??= openPool();
    const task = {
      baseline: textsOf(baseline),
      candidate: textsOf(candidate),
      items,
      changed: changed.get(candidate.experimentId)!,
      metrics,
      options: { alpha, seed },
      regressions,
    };
    compared.push({
      ...named(candidate),
      metrics: await pool.run(task, { name: 'compareInThread' }),
      left_out: leftOut,
      changed_items: task.changed.length,
      win_rates: preferences.get(candidate.experimentId)!,
    });
  }
  return { baseline: named(baseline), alpha, margin, cluster, candidates: compared };
}

const textsOf = ({ runs, records, scores }: Measured) => ({ runs, records, scores });

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
  const read = async (tx: TransactionSql) => {
    const [baseline, ...candidates] = await measuredOf(tx, organizationId, ids);
    for (const { datasetId, name } of candidates) {
      if (datasetId === baseline!.datasetId) continue;
      throw new AssayError(
        'invalid_body',
        `candidates must be over the dataset of the baseline, but "${name}" is over another`,
      );
    }
    const evaluatorIds = [baseline!, ...candidates].flatMap((one) => one.evaluators.map(({ id }) => id));
    const evaluators = await findEvaluators(tx, organizationId, evaluatorIds);
    const preferences = new Map<string, WinRateJson[]>();
    const changed = new Map<string, string[]>();
    for (const { experimentId: candidateId } of candidates) {
      const sides = { baselineId: baseline!.experimentId, candidateId };
      const items = await tx<{ item_id: string }[]>`${changedItems(tx, sides)}`;
      changed.set(
        candidateId,
        items.map(({ item_id }) => item_id),
      );
      preferences.set(candidateId, await winRates(tx, organizationId, sides, { evaluator: null, alpha }));
    }
    return {
      preferences,
      changed,
      baseline: baseline!,
      candidates,
      items: await findItems(tx, organizationId, baseline!, cluster),
      evaluators,
      ranges: await findScoreRanges(tx, organizationId, baseline!.evaluators),
      confusions: await findConfusions(tx, organizationId, baseline!, evaluators),
    };
  };
  // Others wait for the place that this comparison has: it does not wait behind all other queries of its organization.
  return await inOrganization(sql, organizationId, read, { isContinued: true });
}

/** Counts how far evaluators that pass and fail agree with people, so that their errors can be corrected. */
async function findConfusions(
  tx: TransactionSql,
  organizationId: string,
  { evaluators: used, scores }: Measured,
  evaluators: ReadonlyMap<string, EvaluatorFacts>,
): Promise<Map<string, Confusion | null>> {
  const found = new Map<string, Confusion | null>();
  for (const { id, version } of used) {
    const isBinary = scores.every((one) => one.evaluatorId !== id || one.isBinary);
    if (evaluators.get(id)!.isDeleted || !isBinary) continue;
    found.set(id, await findConfusion(tx, organizationId, id, version));
  }
  return found;
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
