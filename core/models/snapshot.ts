/** Dated snapshots of models, of which no list has all. */
import { type CatalogModel, canBeSnapshot } from './built-in.ts';
import { dateInId } from './date-in-id.ts';
import { knowsModel } from './registry.ts';

/** Ids that end in `-20250929` or `-2025-09-29`. */
const DATED = /^(.+)-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/**
 * Returns a model by the id of one of its snapshots (`claude-sonnet-4-5-20250929`), dated as the id says; null when the
 * id has no date, or the model that it would be a snapshot of is not listed or has no price by this id.
 * @param listed finds a listed model by its id
 */
export function snapshotOf(
  id: string,
  listed: (id: string) => CatalogModel | undefined,
): CatalogModel | null {
  const created = dateInId(id);
  const model = listed(DATED.exec(id)?.[1] ?? '');
  if (created === null || model === undefined) return null;
  if (!canBeSnapshot(id, model) || !knowsModel(model.provider, id)) return null;
  return { ...model, id, created };
}
