/** One side of a comparison as its thread has it: the runs of each metric. Pure. */
import { nanoToUsd } from '#core/contracts/money.ts';
import type { Run } from '#core/statistics/mod.ts';
import type { ItemColumns, Measured, RunColumns, ScoreTexts } from './measured.ts';
import type { ChosenMetric } from './metrics.ts';

/** A side as it was read. */
export type SideTexts = Pick<Measured, 'runs' | 'scores'>;

export type Side = {
  runs: RunColumns;
  /** The cluster of each run. */
  clusters: (string | null)[];
  /** The request of each item in its first repetition that has ended. */
  requests: Map<string, string | null>;
  /** Items whose answers cannot be compared with those of the other side. */
  changed: ReadonlySet<string>;
  /** Parsed for one metric at a time: those of twenty evaluators are most of what is read. */
  scores: readonly ScoreTexts[];
};

export type ItemFacts = { externalId: string | null; cluster: string | null };

export function itemsOf(text: string): Map<string, ItemFacts> {
  const { itemIds, externalIds, clusters }: ItemColumns = JSON.parse(text);
  return new Map(
    itemIds.map((id, index) => [id, { externalId: externalIds[index]!, cluster: clusters[index]! }]),
  );
}

export function sideOf(
  { runs: text, scores }: SideTexts,
  items: ReadonlyMap<string, ItemFacts>,
  changed: ReadonlySet<string>,
): Side {
  const runs: RunColumns = JSON.parse(text);
  return {
    runs,
    clusters: runs.itemIds.map((itemId) => items.get(itemId)?.cluster ?? null),
    requests: requestsOf(runs),
    changed,
    scores,
  };
}

function requestsOf({ itemIds, repetitions, requestIds }: RunColumns): Side['requests'] {
  const inOrder = itemIds
    .map((_, index) => index)
    .sort((left, right) => repetitions[right]! - repetitions[left]!);
  // The first of several repetitions comes last, and stays.
  return new Map(inOrder.map((index) => [itemIds[index]!, requestIds[index]!]));
}

/**
 * Returns the measured runs of a metric, and the number of answers without a score. A run that was not answered has no score,
 * cost, latency or tokens.
 */
export function runsOf(side: Side, metric: ChosenMetric): { measured: Run[]; ungraded: number } {
  const { runs, clusters, changed } = side;
  const values = valuesOf(side, metric);
  const measured: Run[] = [];
  let answers = 0;
  for (const [index, itemId] of runs.itemIds.entries()) {
    if (changed.has(itemId)) continue;
    const value = values[index]!;
    // What was erased has no grade any more, and nobody can give it one.
    if (!runs.isError[index] && (value !== null || !runs.isGone[index])) answers += 1;
    if (value === null) continue;
    measured.push({ itemId, cluster: clusters[index]!, repetition: runs.repetitions[index]!, value });
  }
  return { measured, ungraded: metric.evaluator === null ? 0 : answers - measured.length };
}

/** Returns the values of a metric by run. */
function valuesOf({ runs, scores }: Side, { metric, evaluator }: ChosenMetric): (number | null)[] {
  if (metric === 'errors') return runs.isError.map(Number);
  const answered = <Value>(values: readonly (Value | null)[], numberOf: (value: Value) => number | null) =>
    values.map((value, index) => (value === null || runs.isError[index] ? null : numberOf(value)));
  if (metric === 'cost_usd') return answered(runs.costsNano, nanoToUsd);
  if (metric === 'latency_ms') return answered(runs.latenciesMs, Number);
  if (metric === 'tokens') return answered(runs.tokens, Number);
  const byRequest = scoresOf(scores, evaluator!.id);
  return answered(runs.requestIds, (id) => byRequest.get(id) ?? null);
}

/** Returns the scores of an evaluator by the ids of their requests. */
function scoresOf(scores: readonly ScoreTexts[], evaluatorId: string): Map<string, number> {
  const texts = scores.find((one) => one.evaluatorId === evaluatorId);
  if (texts === undefined) return new Map();
  const [requestIds, values]: [string[], number[]] = [JSON.parse(texts.requestIds), JSON.parse(texts.values)];
  return new Map(requestIds.map((id, index) => [id, values[index]!]));
}
