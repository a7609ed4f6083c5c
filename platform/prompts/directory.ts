/** The stored prompts that a gateway keeps in memory, parsed. A known prompt costs one look-up in memory. */
import { PROMPT_CHANGES_SUBJECT, PROMPTS_CHANNEL } from '#core/contracts/channels.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { type PromptTemplate, parsePrompt } from '#core/prompts/mod.ts';
import type { ChangeWatcher } from '../nats/mod.ts';
import type { Logger } from '../observability/log.ts';
import { createStoreCache, type Listener, type Sql } from '../postgres/mod.ts';
import type { Clock } from '../process/clock.ts';
import { FairSlots } from '../process/fair-slots.ts';
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
/** Memory of a version beside its texts. */
const BYTES_OF_VERSION = 1_024;
/** Memory for each character of a template: two bytes as UTF-16, and one for the parts that it is cut into. */
const BYTES_OF_CHARACTER = 3;

/**
 * Look-ups take turns by organization: calls of one that name thousands of versions, real or made up, must neither keep out
 * the prompts of others nor fill the connections of the pool, which finds keys, too. Fewer at a time would take a turn of the
 * event loop for each few of them, which are long in a busy gateway.
 */
const LOOKUPS = { count: 96, ofOne: 48, maxWaiting: 20_000, maxWaitingOfOne: 1_000 };
const FAILURE = 'The stored prompt cannot be read now: its store is unavailable';

type Cached = StoredPrompt & { readonly bytes: number };

/** Creates the directory of this process, which begins to listen at once. */
export function createPromptDirectory(options: PromptDirectoryOptions): PromptDirectory {
  const { sql, listener, watcher, clock, log } = options;
  const slots = new FairSlots(LOOKUPS);
  const readVersion = async (reference: PromptReference) => {
    const read = async () => ({ version: await findPromptVersion(sql, reference) });
    const taken = await slots.run(reference.organizationId, read);
    if (taken !== null) return taken.version;
    throw new AssayError('store_unavailable', FAILURE, { detail: 'too many look-ups of one organization' });
  };
  const prompts = createStoreCache<PromptReference, Cached | null>({
    clock,
    max: MAX_PROMPTS,
    size: { max: MAX_BYTES, of: (prompt) => prompt?.bytes ?? 1 },
    maxLookups: LOOKUPS.maxWaiting,
    failure: FAILURE,
    load: async (reference) => {
      const found = await readVersion(reference);
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
