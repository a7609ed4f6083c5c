/** One side of a comparison as its thread has it: the runs of each metric. Pure. */
import { nanoToUsd } from '#core/contracts/money.ts';
import type { Run } from '#core/statistics/mod.ts';
import type {
  ClusterColumns,
  ItemColumns,
  ItemTexts,
  Measured,
  RecordColumns,
  RunColumns,
  ScoreTexts,
} from './measured.ts';
import type { ChosenMetric } from './metrics.ts';

/** A side as it was read. */
export type SideTexts = Pick<Measured, 'runs' | 'records' | 'scores'>;

export type Side = {
  runs: RunColumns;
  records: RecordColumns;
  /** The place of each run's record among them; undefined: it is gone. */
  places: (number | undefined)[];
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

export function itemsOf(texts: ItemTexts): Map<string, ItemFacts> {
  const { itemIds, externalIds, clusters, sourceRequestIds }: ItemColumns = JSON.parse(texts.items);
  const ofRequests: ClusterColumns =
    texts.clusters === null ? { requestIds: [], clusters: [] } : JSON.parse(texts.clusters);
  const byRequest = new Map(ofRequests.requestIds.map((id, index) => [id, ofRequests.clusters[index]!]));
  return new Map(
    itemIds.map((id, index) => [
      id,
      {
        externalId: externalIds[index]!,
        cluster: clusters[index] ?? byRequest.get(sourceRequestIds[index] ?? '') ?? null,
      },
    ]),
  );
}

export function sideOf(
  { runs: runTexts, records: recordTexts, scores }: SideTexts,
  items: ReadonlyMap<string, ItemFacts>,
  changed: ReadonlySet<string>,
): Side {
  const runs: RunColumns = JSON.parse(runTexts);
  const records: RecordColumns = JSON.parse(recordTexts);
  const placeOf = new Map(records.requestIds.map((id, index) => [id, index]));
  return {
    runs,
    records,
    places: runs.requestIds.map((id) => placeOf.get(id ?? '')),
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
  const { runs, places, clusters, changed } = side;
  const values = valuesOf(side, metric);
  const measured: Run[] = [];
  let answers = 0;
  for (const [index, itemId] of runs.itemIds.entries()) {
    if (changed.has(itemId)) continue;
    const value = values[index]!;
    // An erased answer has lost its grades, and cannot be graded again.
    if (!runs.isError[index] && (value !== null || places[index] !== undefined)) answers += 1;
    if (value === null) continue;
    measured.push({ itemId, cluster: clusters[index]!, repetition: runs.repetitions[index]!, value });
  }
  return { measured, ungraded: metric.evaluator === null ? 0 : answers - measured.length };
}

/** Returns the values of a metric by run. */
function valuesOf(
  { runs, records, places, scores }: Side,
  { metric, evaluator }: ChosenMetric,
): (number | null)[] {
  if (metric === 'errors') return runs.isError.map(Number);
  const answered = <Value>(values: readonly (Value | null)[], numberOf: (value: Value) => number | null) =>
    values.map((value, index) => (value === null || runs.isError[index] ? null : numberOf(value)));
  const recorded = <Value>(values: readonly (Value | null)[]) =>
    places.map((place) => (place === undefined ? null : values[place]!));
  if (metric === 'cost_usd') return answered(recorded(records.costsNano), nanoToUsd);
  if (metric === 'latency_ms') return answered(recorded(records.latenciesMs), Number);
  if (metric === 'tokens') return answered(recorded(records.tokens), Number);
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
