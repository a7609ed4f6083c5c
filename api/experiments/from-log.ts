/** Makes the dataset of an experiment over logged requests. */
import type { SkipReason } from '#core/contracts/dataset-sources.ts';
import type { ExperimentBody, FromLog } from '#core/contracts/experiment.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { type Chosen, chooseRequests, createDataset, putRequests } from '../datasets/mod.ts';
import type { Context } from './context.ts';
import type { Author } from './create.ts';

/** Requests that did not become items, by reason. */
export type Skipped = { reason: SkipReason; count: number }[];

const MAX_NAME = 200;

/**
 * Chooses the requests of an experiment, before the transaction that makes it; null: it is over a dataset.
 * @throws AssayError invalid_body
 */
export async function chooseFromLog(
  { sql }: Pick<Context, 'sql'>,
  organizationId: string,
  { datasetId, datasetVersion, split, from }: ExperimentBody,
): Promise<Chosen | null> {
  if (from === undefined) {
    if (datasetId === undefined) throw invalidField('datasetId', 'is required, or from in its place');
    return null;
  }
  if (datasetId !== undefined)
    throw invalidField('datasetId', 'and from exclude each other: send one of them');
  if (datasetVersion !== undefined || split !== undefined)
    throw invalidField(split === undefined ? 'datasetVersion' : 'split', 'needs datasetId, not from');
  return await inOrganization(sql, organizationId, (tx) => chooseRequests(tx, organizationId, from));
}

/**
 * Makes a dataset of the chosen requests.
 * @throws AssayError invalid_body, conflict
 */
export async function datasetFromLog(
  tx: TransactionSql,
  author: Author,
  { name, from, chosen, at }: { name: string; from: FromLog; chosen: Chosen; at: Date },
): Promise<{ datasetId: string; skipped: Skipped }> {
  const suffix = `, ${at.toISOString()}`;
  const datasetName = from.datasetName ?? `${name.trim().slice(0, MAX_NAME - suffix.length)}${suffix}`;
  const datasetId = await createDataset(tx, author.organizationId, { name: datasetName }, at);
  const { added, skipped } = await putRequests(tx, author, {
    datasetId,
    chosen,
    body: from,
    nowMs: at.getTime(),
  });
  // Without this, the error would be about a dataset that the caller never named.
  if (added === 0) {
    const reasons = skipped.map(({ reason, count }) => `${count} left out as ${reason}`).join(', ');
    throw invalidField(
      'from',
      `must find a request that can be an item, but finds none${reasons && ` (${reasons})`}`,
    );
  }
  return { datasetId, skipped };
}
