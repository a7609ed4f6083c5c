/** Runs of experiments whose target is external: found, locked and written, in the transaction of a caller. */
import { AssayError } from '#core/contracts/errors.ts';
import type { ExperimentState, Target } from '#core/contracts/experiment.ts';
import type { OutputBody } from '#core/contracts/experiment-output.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { completeExperiment } from '#platform/experiments/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { unknown } from '../ids.ts';
import type { RunRow } from './experiment-json.ts';

const ANSWERED = new Set(['completed', 'error', 'skipped']);

/** Returns whether a run has its outcome, which stays. */
export const isAnswered = ({ state }: Pick<RunRow, 'state'>): boolean => ANSWERED.has(state);

/** A run with what its answer is logged with. */
export type OutputRun = RunRow & {
  experiment_id: string;
  experiment_state: ExperimentState;
  call_id: string | null;
  /** JSON; null: erased. */
  request: string | null;
};

type NamedRun = Pick<OutputBody, 'itemId' | 'externalId' | 'repetition'>;

/**
 * Locks the run that an answer is for.
 * @throws AssayError not_found, conflict when the experiment's answers are not posted
 */
export async function lockRun(
  tx: TransactionSql,
  organizationId: string,
  experimentId: string,
  {
    itemId = null,
    externalId = null,
    repetition = 1,
  }: { [K in keyof NamedRun]: NamedRun[K] | null | undefined },
): Promise<OutputRun> {
  const [experiment] = await tx<{ kind: Target['kind'] }[]>`
    select target ->> 'kind' as kind from assay.experiments
     where organization_id = ${organizationId} and experiment_id = ${experimentId}`;
  if (experiment === undefined) throw unknown('experiment', experimentId);
  if (experiment.kind !== 'external')
    throw new AssayError(
      'conflict',
      `The target of the experiment is ${experiment.kind}: only external takes answers`,
    );
  const [run] = await tx<OutputRun[]>`
    select r.*, i.request, x.state as experiment_state from assay.experiments x
      join assay.experiment_runs r on r.experiment_id = x.experiment_id
      join assay.dataset_items i on i.dataset_id = x.dataset_id and i.item_id = r.item_id
       and i.from_version <= x.dataset_version and (i.to_version is null or i.to_version > x.dataset_version)
     where x.experiment_id = ${experimentId} and r.repetition = ${repetition}::int2
       and (i.item_id = ${itemId === null ? null : storableText(itemId)}
            or i.external_id = ${externalId === null ? null : storableText(externalId)}) for update of r`;
  if (run === undefined)
    throw new AssayError(
      'not_found',
      `The experiment has no run of the item ${itemId ?? externalId} in repetition ${repetition}`,
    );
  return run;
}

/** @throws AssayError conflict when a run without an outcome belongs to an experiment that does not run */
export function refuseStopped(run: OutputRun): void {
  if (run.experiment_state === 'running' || isAnswered(run)) return;
  throw new AssayError(
    'conflict',
    `The experiment is ${run.experiment_state}: only one that is running takes answers`,
  );
}

/** The outcome of a run. */
export type Outcome =
  | { state: 'completed'; requestId: string | null }
  | { state: 'error'; errorCode: string; errorMessage: string };

/** Writes the outcome of a locked run. */
export async function writeOutcome(tx: TransactionSql, run: OutputRun, outcome: Outcome): Promise<RunRow> {
  const failed = outcome.state === 'error' ? outcome : { errorCode: null, errorMessage: null };
  const [written] = await tx<RunRow[]>`
    update assay.experiment_runs
       set state = ${outcome.state}, request_id = ${outcome.state === 'completed' ? outcome.requestId : null},
           error_code = ${failed.errorCode}, error_message = ${failed.errorMessage}, finished_at = now()
     where experiment_id = ${run.experiment_id} and item_id = ${run.item_id} and repetition = ${run.repetition}
    returning *`;
  await completeExperiment(tx, run.experiment_id);
  return written!;
}
