/** An element of a batch: work that is still to be done, or a result that is known already. */
export type BatchItem<Work, Result> = { kind: 'open'; work: Work } | { kind: 'done'; result: Result };

export const open = <Work>(work: Work) => ({ kind: 'open', work }) as const;
export const done = <Result>(result: Result) => ({ kind: 'done', result }) as const;

/**
 * Does the open work of a batch, all at once, and returns the results of the whole batch in order.
 * @param process returns one result for each, in order
 */
export async function completeBatch<Work, Result>(
  batch: readonly BatchItem<Work, Result>[],
  process: (work: Work[]) => Promise<Result[]>,
): Promise<Result[]> {
  const work = batch.flatMap((item) => (item.kind === 'open' ? [item.work] : []));
  const results = (work.length === 0 ? [] : await process(work)).values();
  return batch.map((item) => (item.kind === 'open' ? results.next().value! : item.result));
}
