/** Runs on their way to a thread: numbers in arrays, and each text once. Copied as objects, 10,000 items of six metrics take 150 ms. */
import type { Run } from '#core/statistics/mod.ts';

/** The runs of one side by one metric; texts by their places. */
type PackedRuns = {
  items: Int32Array;
  /** -1: the item is alone. */
  clusters: Int32Array;
  repetitions: Int32Array;
  values: Float64Array;
};

const NO_CLUSTER = -1;

type Sides = { baseline: readonly Run[]; candidate: readonly Run[] };

/** Metrics whose runs are packed. */
export type PackedMetrics<Metric extends Sides> = {
  metrics: (Omit<Metric, keyof Sides> & Record<keyof Sides, PackedRuns>)[];
  /** The texts of all runs, by their places. */
  texts: string[];
};

/** Packs the runs of metrics. */
export function packMetrics<Metric extends Sides>(metrics: readonly Metric[]): PackedMetrics<Metric> {
  const places = new Map<string, number>();
  const placeOf = (text: string): number => {
    const known = places.get(text);
    if (known !== undefined) return known;
    places.set(text, places.size);
    return places.size - 1;
  };
  const pack = (runs: readonly Run[]): PackedRuns => ({
    items: Int32Array.from(runs, ({ itemId }) => placeOf(itemId)),
    clusters: Int32Array.from(runs, ({ cluster }) => (cluster === null ? NO_CLUSTER : placeOf(cluster))),
    repetitions: Int32Array.from(runs, ({ repetition }) => repetition),
    values: Float64Array.from(runs, ({ value }) => value),
  });
  const packed = metrics.map((metric) => ({
    ...metric,
    baseline: pack(metric.baseline),
    candidate: pack(metric.candidate),
  }));
  return { metrics: packed, texts: [...places.keys()] };
}

/** Returns the runs that were packed. */
export function unpackRuns(
  { items, clusters, repetitions, values }: PackedRuns,
  texts: readonly string[],
): Run[] {
  return Array.from(items, (item, index) => ({
    itemId: texts[item]!,
    cluster: clusters[index] === NO_CLUSTER ? null : texts[clusters[index]!]!,
    repetition: repetitions[index]!,
    value: values[index]!,
  }));
}
