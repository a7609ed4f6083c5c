/** The models that the registry prices and chat completions can use by their bare id: generated data. */
import type { ProviderName } from '../contracts/provider.ts';
import { secondsOfDate } from './date.ts';
import { dateInId } from './date-in-id.ts';
import data from './models.json' with { type: 'json' };
import { CATALOG_ORDER } from './provider-of.ts';
import { REGISTRY_DATE } from './registry.ts';

/** A model that chat completions can use. */
export type CatalogModel = {
  /** What to ask for. */
  id: string;
  provider: ProviderName;
  /** For people. */
  title: string;
  /** The organization that made it. */
  ownedBy: string;
  /** When it came out; seconds since the epoch. */
  created: number;
};

const REGISTRY_SECONDS = secondsOfDate(REGISTRY_DATE) ?? 0;

const RETIRED_SNAPSHOTS: ReadonlySet<string> = new Set(data.retired_snapshots);

/** Names without an author, in lower case: a model came out once, whoever hosts it. */
const RELEASED: ReadonlyMap<string, string> = new Map(
  data.models.flatMap(({ id, released }) => (released === null ? [] : [[bareName(id), released]])),
);

/** All of them. */
export const BUILT_IN_MODELS: readonly CatalogModel[] = data.models.flatMap(
  ({ id, provider, title, owned_by, released }) => {
    const known = CATALOG_ORDER.find((name) => name === provider);
    const created = secondsOfDate(released ?? '') ?? releasedAt(id);
    return known === undefined ? [] : [{ id, provider: known, title, ownedBy: owned_by, created }];
  },
);

const PROVIDERS: ReadonlyMap<string, ProviderName> = new Map(
  BUILT_IN_MODELS.map(({ id, provider }) => [id, provider]),
);

/** Whether dated snapshots of a listed model may be found, this one included: it is built in and was not shut down. */
export function canBeSnapshot(id: string, { id: modelId, provider }: CatalogModel): boolean {
  return PROVIDERS.get(modelId) === provider && !RETIRED_SNAPSHOTS.has(id);
}

/**
 * Returns when a model came out, in seconds since the epoch: the date in its id, else the release date of a model of that
 * name at any host, or of the one that `-latest` stands for, else the date of the registry.
 */
export function releasedAt(id: string): number {
  const name = bareName(id);
  const released = RELEASED.get(name) ?? RELEASED.get(name.replace(/-latest$/, '')) ?? '';
  return dateInId(id) ?? secondsOfDate(released) ?? REGISTRY_SECONDS;
}

function bareName(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1).toLowerCase();
}
