/** Makes versions: each change of items is one, with all that it changes or nothing. */
import { type ItemChangesJson, MAX_ITEMS, MAX_VERSIONS } from '#core/contracts/dataset.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { invalidItem, type ReadItem } from '#core/datasets/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { ascendingIds } from '#platform/process/ids.ts';
import type { Author } from './context.ts';
import { insertVersion, type LockedDataset } from './dataset-store.ts';
import {
  endItems,
  findErased,
  findNewest,
  insertItems,
  listNewestIds,
  type NewestItem,
  type NewItem,
} from './item-store.ts';
import { lookedUp, planItems } from './plan.ts';

/** Items that are looked up by one statement. */
const LOOKED_UP = 5_000;

export type Writing = {
  tx: TransactionSql;
  dataset: LockedDataset;
  author: Author;
  message: string;
  nowMs: number;
};

/** Which items a call removes that it does not name: all, those of a split, or none. */
export type Replacing = { split: string | null } | null;

async function findTargets(
  tx: TransactionSql,
  datasetId: string,
  items: readonly ReadItem[],
): Promise<NewestItem[]> {
  const found = new Map<string, NewestItem>();
  for (let from = 0; from < items.length; from += LOOKED_UP) {
    const some = lookedUp(items.slice(from, from + LOOKED_UP));
    for (const item of await findNewest(tx, datasetId, some)) found.set(item.item_id, item);
  }
  return [...found.values()];
}

/** @throws AssayError invalid_body */
async function refuseErased({ tx, author }: Writing, items: readonly ReadItem[]): Promise<void> {
  const sources = items.flatMap(({ sourceRequestId }) => sourceRequestId ?? []);
  const erased = await findErased(tx, author.organizationId, sources);
  if (erased.size === 0) return;
  const item = items.find(({ sourceRequestId }) => sourceRequestId !== null && erased.has(sourceRequestId))!;
  throw invalidItem(item.place, 'sourceRequestId', 'names a request that was erased');
}

/**
 * Stores items, and removes those that `replacing` says.
 * @throws AssayError invalid_body, conflict for more items or versions than a dataset may have
 */
export async function putItems(
  writing: Writing,
  items: readonly ReadItem[],
  replacing: Replacing,
): Promise<ItemChangesJson> {
  const { tx, dataset, nowMs } = writing;
  const datasetId = dataset.dataset_id;
  await refuseErased(writing, items);
  const { rows, added, changed, unchanged, named } = planItems(
    items,
    await findTargets(tx, datasetId, items),
    ascendingIds(nowMs),
  );
  const newest = replacing === null ? [] : await listNewestIds(tx, datasetId, replacing.split);
  const removed = newest.filter((id) => !named.has(id));
  const version = await makeVersion(writing, { rows, ended: [...changed, ...removed] });
  return { version, added, changed: changed.length, unchanged, removed: removed.length };
}

/** Removes items by their ids, all of which are in the newest version. */
export function removeItems(writing: Writing, ids: readonly string[]): Promise<number> {
  return makeVersion(writing, { rows: [], ended: ids });
}

type Changes = { rows: readonly NewItem[]; ended: readonly string[] };

/** Returns the number of the newest version: of a new one where anything changes. */
async function makeVersion(writing: Writing, { rows, ended }: Changes): Promise<number> {
  const { tx, dataset, author, message, nowMs } = writing;
  if (rows.length === 0 && ended.length === 0) return dataset.last_version;
  const version = dataset.last_version + 1;
  const items = dataset.items + rows.length - ended.length;
  if (items > MAX_ITEMS)
    throw new AssayError(
      'conflict',
      `A dataset can have at most ${MAX_ITEMS} items, and would have ${items}`,
    );
  if (version > MAX_VERSIONS)
    throw new AssayError(
      'conflict',
      `A dataset can have at most ${MAX_VERSIONS} versions: make another dataset`,
    );
  const destination = {
    organizationId: author.organizationId,
    datasetId: dataset.dataset_id,
    version,
  };
  await endItems(tx, dataset.dataset_id, version, ended);
  await insertItems(tx, destination, rows);
  await insertVersion(tx, { ...destination, items, message, keyId: author.keyId, at: new Date(nowMs) });
  return version;
}
