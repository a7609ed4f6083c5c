/** Makes items of logged requests. */
import {
  type FromRequestsBody,
  type FromRequestsJson,
  MAX_SAMPLE,
  MAX_SAMPLE_BYTES,
  type SkipReason,
} from '#core/contracts/dataset-sources.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import type { ReadItem } from '#core/datasets/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { inTurns } from '#platform/process/turns.ts';
import { unfitItems } from './check-items.ts';
import { type Chosen, chooseByFilter, chooseByIds } from './choose-requests.ts';
import { type Author, type Context, requireDataset, requireLocked } from './context.ts';
import type { LockedDataset } from './dataset-store.ts';
import { itemOfRequest } from './item-of-request.ts';
import { findTaken, loadSources, type SourceRow } from './source-store.ts';
import { putItems } from './write.ts';

/** @throws AssayError not_found, invalid_body, conflict */
export type FromRequests = (
  author: Author,
  datasetId: string,
  body: FromRequestsBody,
) => Promise<FromRequestsJson>;

/** Most requests whose bodies are in memory at a time. */
const BATCH = 100;
/** The number of requests beyond the sample that are tried, in its order, when the bodies of some turn out to be no chat. */
const SPARE = 1_000;

/** @throws AssayError invalid_body unless the body names requests in one way */
function refuseUnclear({ filter, q, requestIds, sample }: FromRequestsBody): void {
  if (requestIds === undefined) return;
  if (filter !== undefined || q !== undefined)
    throw invalidField('requestIds', 'and filter or q exclude each other: send one of them');
  if (sample !== undefined) throw invalidField('sample', 'needs filter or q, not requestIds');
}

function choose(tx: TransactionSql, organizationId: string, body: FromRequestsBody): Promise<Chosen> {
  if (body.requestIds !== undefined) return chooseByIds(tx, organizationId, body.requestIds);
  const limit = body.sample === undefined ? MAX_SAMPLE + 1 : body.sample.n + SPARE;
  return chooseByFilter(tx, organizationId, body, limit);
}

type Collected = { items: ReadItem[]; unchanged: number; skipped: Map<SkipReason, number> };

/** Reads the bodies of chosen requests until there are as many items as wanted. */
async function collect(
  tx: TransactionSql,
  organizationId: string,
  dataset: LockedDataset,
  { keys, skipped }: Chosen,
  body: FromRequestsBody,
): Promise<Collected> {
  const wanted = body.sample?.n ?? keys.length;
  const collected: Collected = { items: [], unchanged: 0, skipped: new Map(skipped) };
  const skip = (reason: SkipReason) =>
    collected.skipped.set(reason, (collected.skipped.get(reason) ?? 0) + 1);
  let bytes = 0;
  for (let tried = 0; tried < keys.length; ) {
    const missing = wanted - collected.items.length - collected.unchanged;
    if (missing <= 0) break;
    const batch = keys.slice(tried, tried + Math.min(BATCH, missing));
    const taken = await findTaken(
      tx,
      organizationId,
      dataset.dataset_id,
      batch.map(({ request_id }) => request_id),
    );
    const fresh = batch.filter(({ request_id }) => !taken.has(request_id));
    const { rows, loaded } = await loadSources(tx, organizationId, fresh);
    for (let gone = loaded - rows.length; gone > 0; gone -= 1) skip('not_found');
    const done = loaded === fresh.length ? batch.length : batch.indexOf(fresh[loaded]!);
    collected.unchanged += done - loaded;
    tried += done;
    const made = await itemsOfRows(rows, body, skip);
    const unfit = await unfitItems(dataset, made);
    for (const item of made) {
      if (unfit.has(item)) skip('schema');
      else {
        collected.items.push(item);
        bytes += item.request.length + (item.expected?.length ?? 0) + item.metadata.length;
      }
    }
    if (bytes > MAX_SAMPLE_BYTES)
      throw new AssayError(
        'invalid_body',
        `The requests hold more than the ${MAX_SAMPLE_BYTES} characters allowed: take fewer at a time`,
      );
  }
  return collected;
}

/** Makes the items of rows, in turns of the event loop; `skip` gets the reasons of the others. */
async function itemsOfRows(
  rows: SourceRow[],
  body: FromRequestsBody,
  skip: (reason: SkipReason) => void,
): Promise<ReadItem[]> {
  const items: ReadItem[] = [];
  await inTurns(() => {
    const row = rows.shift();
    if (row === undefined) return true;
    const item = itemOfRequest(row, body);
    if (typeof item === 'string') skip(item);
    else items.push(item);
    return false;
  });
  return items;
}

/**
 * Chooses the requests that a body names. Apart from what stores them, so that no lock is held while a filter is slow.
 * @throws AssayError invalid_body
 */
export async function chooseRequests(
  tx: TransactionSql,
  organizationId: string,
  body: FromRequestsBody,
): Promise<Chosen> {
  refuseUnclear(body);
  const chosen = await choose(tx, organizationId, body);
  if (body.sample !== undefined || chosen.keys.length <= MAX_SAMPLE) return chosen;
  throw invalidField('filter', `passes more than ${MAX_SAMPLE} usable requests: narrow it, or send sample`);
}

/**
 * Makes items of chosen requests in the newest version of a dataset.
 * @throws AssayError not_found, invalid_body, conflict
 */
export async function putRequests(
  tx: TransactionSql,
  author: Author,
  {
    datasetId,
    chosen,
    body,
    nowMs,
  }: { datasetId: string; chosen: Chosen; body: FromRequestsBody; nowMs: number },
): Promise<FromRequestsJson> {
  const dataset = await requireLocked(tx, author.organizationId, datasetId);
  const { items, unchanged, skipped } = await collect(tx, author.organizationId, dataset, chosen, body);
  const counts = [...skipped].map(([reason, count]) => ({ reason, count }));
  const answer = { added: items.length, unchanged, skipped: counts };
  if (body.dryRun === true) return { version: dataset.last_version, ...answer };
  const message = storableText(body.message ?? '');
  const { version } = await putItems({ tx, dataset, author, message, nowMs }, items, null);
  return { version, ...answer };
}

export function createFromRequests({ sql, clock }: Context): FromRequests {
  return async (author, datasetId, body) => {
    const chosen = await inOrganization(sql, author.organizationId, async (tx) => {
      await requireDataset(tx, author.organizationId, datasetId);
      return chooseRequests(tx, author.organizationId, body);
    });
    return inOrganization(sql, author.organizationId, (tx) =>
      putRequests(tx, author, { datasetId, chosen, body, nowMs: clock.now() }),
    );
  };
}
