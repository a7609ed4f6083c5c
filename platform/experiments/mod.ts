/** Experiments as all roles see them that settle runs. */
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
