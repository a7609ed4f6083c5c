/** Builds core/models/models.json: the models that can be called by their bare id, with their makers and release dates. */
import type { ProviderName } from '#core/contracts/provider.ts';
import { secondsOfDate } from '#core/models/date.ts';
import { dateInId } from '#core/models/date-in-id.ts';
import { createMakerOf, type Makers } from '#core/models/maker.ts';
import { CATALOG_ORDER, providerOf } from '#core/models/provider-of.ts';
import { knowsModel, PRICE_SOURCE, registryModels } from '#core/models/registry.ts';
import { isServed } from './served.ts';

/** Release dates by the names that models.dev gives providers and models. */
export type ReleaseDates = Readonly<Record<string, Readonly<Record<string, string>>>>;

export type Overrides = Makers & {
  /** Dates of models that models.dev lacks or has wrong, by lower-case name without an author. */
  released: Readonly<Record<string, string>>;
};

type Model = {
  id: string;
  provider: ProviderName;
  title: string;
  owned_by: string;
  /** `2025-08-07`; null: unknown. */
  released: string | null;
};

/** Names of providers that models.dev names otherwise. */
const MODELS_DEV_NAMES: Partial<Record<ProviderName, string>> = { together: 'togetherai' };

/** Returns the name that models.dev gives a provider. */
export function modelsDevName(provider: ProviderName): string {
  return MODELS_DEV_NAMES[provider] ?? provider;
}

/** A dated snapshot. `core/models/snapshot.ts` finds those that are not listed by their models. */
const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** Returns the file as text: one line for each model, so that a change shows in a diff. */
export function buildModels(dates: ReleaseDates, overrides: Overrides): string {
  const found = new Map<string, Model>();
  const retired: string[] = [];
  const { authors, families } = overrides;
  const makerOf = createMakerOf({ authors, families });
  for (const provider of CATALOG_ORDER) {
    for (const { names, title, isPriced, isDeprecated, contextWindow } of registryModels(provider)) {
      if (!isPriced || isDeprecated) continue;
      // Where OpenRouter still serves a model, the registry has its context window: 199 of 210 were served on 2026-08-18,
      // and 69 of 383 of the others.
      if (provider === 'openrouter' && contextWindow === null) continue;
      for (const id of names) {
        if (!isBareId(provider, id) || found.has(id)) continue;
        if (!isServed(provider, id)) {
          if (DATED.test(id) && knowsModel(provider, id)) retired.push(id);
          continue;
        }
        const released = releaseDate(provider, id, names, dates, overrides);
        const ownTitle = id === names[0] ? (title ?? id) : id;
        found.set(id, { id, provider, title: ownTitle, owned_by: makerOf(provider, id), released });
      }
    }
  }
  const models = [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const lines = models.map((model) => `    ${JSON.stringify(model)}`).join(',\n');
  const isOfListed = (id: string) => found.has(id.replace(DATED, ''));
  const snapshots = JSON.stringify(retired.filter(isOfListed).sort());
  const makers = JSON.stringify({ authors, families });
  return `{\n  "prices": "${PRICE_SOURCE}",\n  "retired_snapshots": ${snapshots},\n  "makers": ${makers},\n  "models": [\n${lines}\n  ]\n}\n`;
}

/** Returns whether an id means this provider's model of that name, and not another's. */
function isBareId(provider: ProviderName, id: string): boolean {
  const meant = providerOf(id);
  return meant !== null && meant.provider === provider && meant.model === id;
}

/** Returns the date of a model whose id has none: `gpt-5` was released with its first snapshot. */
function releaseDate(
  provider: ProviderName,
  id: string,
  siblings: readonly string[],
  dates: ReleaseDates,
  { released }: Overrides,
): string | null {
  if (dateInId(id) !== null) return null;
  const name = id.slice(id.lastIndexOf('/') + 1).toLowerCase();
  const known = released[name] ?? released[name.replace(/-latest$/, '')];
  if (known !== undefined) return known;
  const snapshots = siblings
    .filter((sibling) => /^-[\d-]+$/.test(sibling.startsWith(id) ? sibling.slice(id.length) : ''))
    .flatMap((sibling) => dateInId(sibling) ?? []);
  if (snapshots.length > 0) return new Date(Math.min(...snapshots) * 1_000).toISOString().slice(0, 10);
  const date = dates[modelsDevName(provider)]?.[id];
  // Some dates of models.dev have no day.
  return date === undefined || secondsOfDate(date) === null ? null : date;
}
