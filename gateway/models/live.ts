/** The list of models as it is now: an organization that stores the first key for a provider adds that provider's models. */

import { describeError } from '#core/contracts/errors.ts';
import type { CatalogModel } from '#core/models/mod.ts';
import type { ProviderName } from '#platform/config/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { createModelLists, type ModelLists } from './model-list.ts';
import { usableModels } from './usable.ts';

export type LiveModels = {
  answers: ModelLists;
  /** Keys were stored or removed: the providers are read again, soon. */
  refresh(): void;
  stop(): void;
};

export type LiveModelsOptions = {
  /** All that could be listed. */
  models: readonly CatalogModel[];
  /** Those that the operator has configured. */
  operators: ReadonlySet<ProviderName>;
  /** Reads those for which some organization has stored a key. */
  readStored(): Promise<readonly ProviderName[]>;
  log: Logger;
};

/** Between two readings: a burst of new keys costs one, and a change still shows within a second. */
const SPACING_MS = 250;
/** While Postgres is away the list stays as it was. */
const RETRY_MS = 1_000;

/**
 * Makes the list.
 * @throws when the stored providers cannot be read for the first time
 */
export async function createLiveModels(options: LiveModelsOptions): Promise<LiveModels> {
  const { models, operators, readStored, log } = options;
  let stored: ReadonlySet<ProviderName> = new Set(await readStored());
  let answers = answersFor();
  let timer: NodeJS.Timeout | null = null;
  let isReading = false;
  let isStale = false;
  let isStopped = false;

  function answersFor(): ModelLists {
    return createModelLists(usableModels(models, new Set([...operators, ...stored])));
  }

  async function read(): Promise<void> {
    isReading = true;
    isStale = false;
    let waitMs = SPACING_MS;
    try {
      const now = new Set(await readStored());
      if (now.size !== stored.size || [...now].some((provider) => !stored.has(provider))) {
        stored = now;
        answers = answersFor();
      }
    } catch (error) {
      log.warn(
        { error: describeError(error) },
        'Cannot read for which providers keys are stored; trying again',
      );
      isStale = true;
      waitMs = RETRY_MS;
    }
    isReading = false;
    if (isStale) readLater(waitMs);
  }

  function readLater(waitMs: number): void {
    if (isStopped || timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      void read();
    }, waitMs);
    timer.unref();
  }

  return {
    answers: {
      list: (dialect, parameters) => answers.list(dialect, parameters),
      one: (dialect, id) => answers.one(dialect, id),
    },
    refresh: () => {
      isStale = true;
      if (!isReading) readLater(SPACING_MS);
    },
    stop: () => {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
