/** Experiments as all roles see them that settle or compare runs. */
import type { TransactionSql } from '../postgres/mod.ts';

/** Ends an experiment when its last run has its outcome. */
export async function completeExperiment(tx: TransactionSql, experimentId: string): Promise<void> {
  const [waiting] = await tx`
    select 1 from assay.experiment_runs where experiment_id = ${experimentId} and state = 'pending' limit 1`;
  if (waiting !== undefined) return;
  // The last runs may be settled at once. Whoever gets the row last sees them all.
  await tx`select from assay.experiments where experiment_id = ${experimentId} for no key update`;
  await tx`
    update assay.experiments x set state = 'completed', finished_at = now(), updated_at = now()
     where x.experiment_id = ${experimentId} and x.state in ('running', 'budget', 'paused')
       and not exists (select from assay.experiment_runs r
                        where r.experiment_id = x.experiment_id and r.state in ('pending', 'running'))`;
}

/** Two experiments over one dataset. */
export type Sides = { baselineId: string; candidateId: string };

/**
 * Selects the ids of the items that ask, or expect, another thing in the dataset's version of either experiment: an item keeps its
 * id when it is changed, and its answers before and after cannot be compared. Metadata counts where it fills a stored prompt.
 */
export function changedItems(tx: TransactionSql, { baselineId, candidateId }: Sides) {
  return tx`
    select i.item_id from assay.experiments b
      join assay.experiments c on c.dataset_id = b.dataset_id and c.dataset_version <> b.dataset_version
      join assay.dataset_items i on i.dataset_id = b.dataset_id and i.from_version <= b.dataset_version
                                and (i.to_version is null or i.to_version > b.dataset_version)
      join assay.dataset_items j on j.dataset_id = b.dataset_id and j.item_id = i.item_id and j.from_version <> i.from_version
                                and j.from_version <= c.dataset_version
                                and (j.to_version is null or j.to_version > c.dataset_version)
     where b.experiment_id = ${baselineId} and c.experiment_id = ${candidateId}
       and ((i.request, i.expected) is distinct from (j.request, j.expected)
            or (i.metadata <> j.metadata and 'prompt' in (b.target ->> 'kind', c.target ->> 'kind')))`;
}
