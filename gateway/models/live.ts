/** Keeps the list of models current: the first key that an organization stores for a provider adds the provider's models. */
import { describeError } from '#core/contracts/errors.ts';
import type { CatalogModel } from '#core/models/mod.ts';
import type { ProviderName } from '#platform/config/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { Backoff } from '#platform/process/backoff.ts';
import { createModelLists, type ModelLists } from './model-list.ts';
import type { FindNamed } from './named.ts';
import { isUsable, usableModels } from './usable.ts';

export type LiveModels = {
  answers: ModelLists;
  /** Reads the providers again, soon; to be called when keys were stored or removed. */
  refresh(): void;
  stop(): void;
};

export type LiveModelsOptions = {
  /** All models that can be listed. */
  models: readonly CatalogModel[];
  /** Finds what other names stand for. */
  findNamed: FindNamed;
  /** The providers that the operator has configured. */
  operatorProviders: ReadonlySet<ProviderName>;
  /** Reads the providers for which any organization has stored a key. */
  readStoredProviders(): Promise<readonly ProviderName[]>;
  log: Logger;
};

/** Before the providers are read: a burst of new keys costs one reading, and a change is still listed within a second. */
const DELAY_MS = 250;
/** Before a failed reading is repeated. While Postgres is away the list stays as it was. */
const RETRY = { firstMs: 250, longestMs: 2_000 };

/**
 * Makes the list.
 * @throws when the stored providers cannot be read for the first time
 */
export async function createLiveModels(options: LiveModelsOptions): Promise<LiveModels> {
  const { models, findNamed, operatorProviders, readStoredProviders, log } = options;
  let stored: ReadonlySet<ProviderName> = new Set(await readStoredProviders());
  let answers = createLists();
  const backoff = new Backoff(RETRY);
  let timer: NodeJS.Timeout | null = null;
  let isReading = false;
  let isStale = false;
  let isStopped = false;

  function createLists(): ModelLists {
    const configured = new Set([...operatorProviders, ...stored]);
    return createModelLists(usableModels(models, configured), (name) => {
      const found = findNamed(name);
      return found?.providers.every((provider) => isUsable(provider, configured)) ? found.model : null;
    });
  }

  async function read(): Promise<void> {
    isReading = true;
    isStale = false;
    let waitMs = DELAY_MS;
    try {
      const latest = new Set(await readStoredProviders());
      backoff.reset();
      if (latest.size !== stored.size || [...latest].some((provider) => !stored.has(provider))) {
        stored = latest;
        answers = createLists();
      }
    } catch (error) {
      log.warn({ error: describeError(error) }, 'Cannot read which providers have stored keys; trying again');
      isStale = true;
      waitMs = backoff.next();
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
      if (!isReading) readLater(DELAY_MS);
    },
    stop: () => {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
