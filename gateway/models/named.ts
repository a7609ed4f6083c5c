/** Names of models that are not listed, and what they stand for: all that a call can have as its `model`. */
import { LRUCache } from 'lru-cache';
import { AssayError } from '#core/contracts/errors.ts';
import { type Catalog, type CatalogModel, LONGEST_LIST } from '#core/models/mod.ts';
import type { ProviderName } from '#platform/config/mod.ts';
import type { Candidate } from '../providers/resolve.ts';
import type { RoutePlan } from '../routing/mod.ts';

/** A name that calls can have, and the providers that it needs. */
export type NamedModel = { model: CatalogModel; providers: readonly ProviderName[] };

/** Finds what a name stands for; null: a call with it is refused. */
export type FindNamed = (name: string) => NamedModel | null;

/** Names without a key are asked here, too, and to find that one is unknown takes a millisecond. */
const NAMES_KEPT = 2_000;

/**
 * Makes the function that describes a name as the gateway routes it. A list or a group of models has all of their makers, and
 * the date of the newest.
 * @param plan one of its own: names that are asked for here must not push those of calls out of a memory
 */
export function createFindNamed(
  plan: (name: string) => RoutePlan,
  catalog: Pick<Catalog, 'describe'>,
): FindNamed {
  const known = new LRUCache<string, { found: NamedModel | null }>({ max: NAMES_KEPT });
  return (name) => {
    if (name.length > LONGEST_LIST) return null;
    const kept = known.get(name);
    if (kept !== undefined) return kept.found;
    const candidates = candidatesOf(name, plan);
    const found = candidates === null ? null : named(name, candidates, catalog);
    known.set(name, { found });
    return found;
  };
}

function candidatesOf(name: string, plan: (name: string) => RoutePlan): readonly Candidate[] | null {
  try {
    return plan(name).candidates;
  } catch (error) {
    if (error instanceof AssayError) return null;
    throw error;
  }
}

function named(
  name: string,
  candidates: readonly Candidate[],
  catalog: Pick<Catalog, 'describe'>,
): NamedModel {
  const models = candidates.map((candidate) =>
    catalog.describe(candidates.length === 1 ? name : candidate.model, candidate),
  );
  const [first] = models as [CatalogModel];
  const providers = models.map(({ provider }) => provider);
  if (models.length === 1) return { model: { ...first, id: name }, providers };
  const makers = new Set(models.map(({ ownedBy }) => ownedBy));
  const created = Math.max(...models.map((model) => model.created));
  // A group is drawn anew for each call: its makers must not change their order.
  const ownedBy = [...makers].sort().join(', ');
  return { model: { ...first, id: name, title: name, ownedBy, created }, providers };
}
