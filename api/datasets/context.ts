/** The parts that the work on datasets needs, and the look-ups that it shares. */
import { AssayError } from '#core/contracts/errors.ts';
import type { ApiKey } from '#platform/keys/mod.ts';
import { holdErasures, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { unknown } from '../ids.ts';
import { type DatasetRow, findDataset, type LockedDataset, lockDataset } from './dataset-store.ts';

export type Context = {
  /** A pool under the role `assay_api`. */
  sql: Sql;
  clock: Clock;
};

/** The API key that a version is made with. */
export type Author = Pick<ApiKey, 'keyId' | 'organizationId'>;

/**
 * Has statements on items planned for the values they have, until the transaction ends. A plan that was made once, while a
 * dataset was small, would read all of its items for each name that is looked up, once it is large.
 */
async function planForValues(tx: TransactionSql): Promise<void> {
  await tx`set local plan_cache_mode = force_custom_plan`;
}

/**
 * Begins a transaction that reads a dataset.
 * @throws AssayError not_found
 */
export async function requireDataset(
  tx: TransactionSql,
  organizationId: string,
  datasetId: string,
): Promise<DatasetRow> {
  await planForValues(tx);
  const row = await findDataset(tx, organizationId, datasetId);
  if (row === undefined) throw unknown('dataset', datasetId);
  return row;
}

/**
 * Returns the number of a version that is there: the newest unless one is given; 0 while there is none.
 * @throws AssayError not_found
 */
export function requireVersion({ dataset_id, last_version }: DatasetRow, version?: number): number {
  if (version === undefined || version <= last_version) return version ?? last_version;
  throw new AssayError(
    'not_found',
    `The dataset ${dataset_id} has no version ${version}: its newest is ${last_version}`,
  );
}

/**
 * Locks a dataset until the transaction ends, so that its writers follow one another. Erasures wait for the transaction,
 * and it for them: it must see which requests are erased before it stores what came from one.
 * @throws AssayError not_found, conflict when it is archived
 */
export async function requireLocked(
  tx: TransactionSql,
  organizationId: string,
  datasetId: string,
): Promise<LockedDataset> {
  await planForValues(tx);
  await holdErasures(tx, organizationId);
  const dataset = await lockDataset(tx, organizationId, datasetId);
  if (dataset === undefined) throw unknown('dataset', datasetId);
  if (!dataset.is_archived) return dataset;
  throw new AssayError('conflict', `The dataset ${datasetId} is archived: it can be read, but not changed`);
}
