/** Compares the items of a call with those of the newest version: which are new, changed or the same. */
import { hashItem, invalidItem, type ReadItem } from '#core/datasets/mod.ts';
import type { NewestItem, NewItem } from './item-store.ts';

export type Plan = {
  /** The new rows: of new items and of changed ones. */
  rows: NewItem[];
  added: number;
  /** The ids of items whose content changes. */
  changed: string[];
  unchanged: number;
  /** The ids of all items that the call names. */
  named: ReadonlySet<string>;
};

/** Returns the names by which items of the newest version are looked up for a call. */
export function lookedUp(items: readonly ReadItem[]): {
  ids: string[];
  externalIds: string[];
  hashes: string[];
} {
  return {
    ids: items.flatMap(({ id }) => id ?? []),
    externalIds: items.flatMap(({ externalId }) => externalId ?? []),
    hashes: items.flatMap((item) => (isNameless(item) ? hashItem(item) : [])),
  };
}

const isNameless = ({ id, externalId }: ReadItem) => id === null && externalId === null;

/**
 * @param newest the items that `lookedUp` finds
 * @param newId makes an id, each higher than the last
 * @throws AssayError invalid_body when two items of the call are one, or an item has the name of another
 */
export function planItems(
  items: readonly ReadItem[],
  newest: readonly NewestItem[],
  newId: () => string,
): Plan {
  const byId = new Map(newest.map((item) => [item.item_id, item]));
  const byName = new Map(newest.map((item) => [item.external_id, item]));
  const givenIds = new Set(items.map(({ id }) => id));
  const nameless = Map.groupBy(
    newest.filter(({ item_id, external_id }) => external_id === null && !givenIds.has(item_id)),
    ({ content_sha256 }) => content_sha256,
  );
  const places = new Map<string, string>();
  const names = new Map<string, string>();
  const plan = { rows: [] as NewItem[], added: 0, changed: [] as string[], unchanged: 0 };

  function targetOf(item: ReadItem): NewestItem | undefined {
    if (isNameless(item)) return nameless.get(hashItem(item))?.shift();
    const named = item.externalId === null ? undefined : byName.get(item.externalId);
    if (item.id === null) return named;
    if (named !== undefined && named.item_id !== item.id)
      throw invalidItem(item.place, 'externalId', `is that of the item ${named.item_id} already`);
    return byId.get(item.id);
  }

  for (const item of items) {
    const target = targetOf(item);
    const itemId = target?.item_id ?? item.id ?? newId();
    const externalId = item.externalId ?? target?.external_id ?? null;
    const other = places.get(itemId) ?? (externalId === null ? undefined : names.get(externalId));
    if (other !== undefined) throw invalidItem(item.place, '', `names the same item as ${other}`);
    places.set(itemId, item.place.whole);
    if (externalId !== null) names.set(externalId, item.place.whole);
    const content = { ...item, externalId };
    const hash = hashItem(content);
    if (target?.content_sha256 === hash) {
      plan.unchanged += 1;
      continue;
    }
    if (target === undefined) plan.added += 1;
    else plan.changed.push(itemId);
    const sourceRequestId = item.sourceRequestId ?? target?.source_request_id ?? null;
    plan.rows.push({ ...content, itemId, hash, sourceRequestId });
  }
  return { ...plan, named: new Set(places.keys()) };
}
