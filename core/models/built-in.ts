/** The models that have a price in the registry and can be called by their bare id: generated data. */
import type { ProviderName } from '../contracts/provider.ts';
import { secondsOfDate } from './date.ts';
import { dateInId } from './date-in-id.ts';
import { createMakerOf, type MakerOf } from './maker.ts';
import data from './models.json' with { type: 'json' };
import { CATALOG_ORDER } from './provider-of.ts';
import { REGISTRY_DATE } from './registry.ts';

/** A model that chat completions can use. */
export type CatalogModel = {
  /** The name that clients request. */
  id: string;
  provider: ProviderName;
  /** A readable name. */
  title: string;
  /** The organization that made it. */
  ownedBy: string;
  /** The release date, in seconds since the epoch. */
  created: number;
};

const REGISTRY_SECONDS = secondsOfDate(REGISTRY_DATE) ?? 0;

const RETIRED_SNAPSHOTS: ReadonlySet<string> = new Set(data.retired_snapshots);

/** Release dates by name without an author, in lower case: a model was released once, whichever providers host it. */
const RELEASED: ReadonlyMap<string, string> = new Map(
  data.models.flatMap(({ id, released }) => (released === null ? [] : [[bareName(id), released]])),
);

/** All built-in models. */
export const BUILT_IN_MODELS: readonly CatalogModel[] = data.models.flatMap(
  ({ id, provider, title, owned_by, released }) => {
    const known = CATALOG_ORDER.find((name) => name === provider);
    const created = secondsOfDate(released ?? '') ?? releasedAt(id);
    return known === undefined ? [] : [{ id, provider: known, title, ownedBy: owned_by, created }];
  },
);

const BY_ID: ReadonlyMap<string, CatalogModel> = new Map(BUILT_IN_MODELS.map((model) => [model.id, model]));

/** Returns a built-in model by its id. */
export function builtInModel(id: string): CatalogModel | undefined {
  return BY_ID.get(id);
}

/** Returns the provider of a built-in model, by its id. */
export function builtInProviderOf(id: string): ProviderName | undefined {
  return BY_ID.get(id)?.provider;
}

/** Returns the maker of any model, by the makers in the generated data. */
export const makerOf: MakerOf = createMakerOf(data.makers);

/** Returns whether `id` can be a dated snapshot of a listed model: the model is built in, and the snapshot was not shut down. */
export function canBeSnapshot(id: string, { id: modelId, provider }: CatalogModel): boolean {
  return BY_ID.get(modelId)?.provider === provider && !RETIRED_SNAPSHOTS.has(id);
}

/**
 * Returns the release date of a model, in seconds since the epoch: the date in its id, else the release date of a model of
 * that name at any host, or of the one that `-latest` stands for, else the date of the registry.
 */
export function releasedAt(id: string): number {
  const name = bareName(id);
  const released = RELEASED.get(name) ?? RELEASED.get(name.replace(/-latest$/, '')) ?? '';
  return dateInId(id) ?? secondsOfDate(released) ?? REGISTRY_SECONDS;
}

function bareName(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1).toLowerCase();
}
