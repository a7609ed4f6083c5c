/** The stored prompts that a gateway keeps in memory, parsed. A known prompt costs one look-up in memory. */
import { PROMPT_CHANGES_SUBJECT, PROMPTS_CHANNEL } from '#core/contracts/channels.ts';
import { type PromptTemplate, parsePrompt } from '#core/prompts/mod.ts';
import type { ChangeWatcher } from '../nats/mod.ts';
import type { Logger } from '../observability/log.ts';
import { createStoreCache, type Listener, type Sql } from '../postgres/mod.ts';
import type { Clock } from '../process/clock.ts';
import { findPromptVersion, type PromptReference } from './store.ts';

/** A version of a prompt, ready to be expanded. */
export type StoredPrompt = {
  readonly promptId: string;
  /** `major.minor` */
  readonly version: string;
  readonly template: PromptTemplate;
};

export type PromptDirectory = {
  /**
   * Returns the version that is named, or null: at once if it is known, else from Postgres.
   * @throws AssayError store_unavailable (as a rejection) when Postgres is away and the version is not known
   */
  find(reference: PromptReference): StoredPrompt | null | Promise<StoredPrompt | null>;
  stop(): Promise<void>;
};

export type PromptDirectoryOptions = {
  sql: Sql;
  listener: Listener;
  /** Where changes are announced too. */
  watcher: ChangeWatcher;
  clock: Clock;
  log: Logger;
};

/** References in the cache, and the memory that they may take together. */
const MAX_PROMPTS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Of a version without its texts. */
const BYTES_OF_VERSION = 1_024;
/** A template's texts, as UTF-16 at worst, and its parts. */
const BYTES_OF_CHARACTER = 3;

type Cached = StoredPrompt & { readonly bytes: number };

/** Creates the directory of this process, which begins to listen at once. */
export function createPromptDirectory(options: PromptDirectoryOptions): PromptDirectory {
  const { sql, listener, watcher, clock, log } = options;
  const prompts = createStoreCache<PromptReference, Cached | null>({
    clock,
    max: MAX_PROMPTS,
    size: { max: MAX_BYTES, of: (prompt) => prompt?.bytes ?? 1 },
    failure: 'The stored prompt cannot be read now: its store is unavailable',
    load: async (reference) => {
      const found = await findPromptVersion(sql, reference);
      if (found === null) return null;
      const { major, minor, body } = found;
      return {
        promptId: reference.promptId,
        version: `${major}.${minor}`,
        template: parsePrompt(body),
        bytes: BYTES_OF_VERSION + BYTES_OF_CHARACTER * body.length,
      };
    },
  });
  const watching = watcher.watch({ subject: PROMPT_CHANGES_SUBJECT, onChange: prompts.revalidate });
  const listening = listener.listen({
    channel: PROMPTS_CHANNEL,
    onNotify: (promptId) => prompts.forget((_, prompt) => prompt?.promptId === promptId),
    onListening: prompts.onListening,
    onLost() {
      prompts.onLost();
      log.warn(
        'Lost the connection that announces changed prompts; each call reads its prompt in PostgreSQL until it is back',
      );
    },
  });
  return {
    find: (reference) => prompts.find(cacheId(reference), reference),
    stop: async () => {
      await Promise.all([listening.stop(), watching.stop()]);
    },
  };
}

/** Ids hold no space, so that no environment can be taken for a version. */
function cacheId(reference: PromptReference): string {
  const { organizationId, promptId } = reference;
  const isVersion = 'versionId' in reference;
  return `${organizationId} ${promptId} ${isVersion ? 'v' : 'e'} ${isVersion ? reference.versionId : reference.environment}`;
}
