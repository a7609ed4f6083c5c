/** The log-ins that a process keeps in memory: a page makes many calls, and an ended log-in must stop working at once. */
import { BROWSER_SESSION_CHANGES_SUBJECT, BROWSER_SESSIONS_CHANNEL } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import type { ChangeWatcher } from '../nats/mod.ts';
import type { Logger } from '../observability/log.ts';
import { createGathered, createStoreCache, type Listener, type Sql } from '../postgres/mod.ts';
import type { Clock } from '../process/clock.ts';
import { hashSecret } from './secret.ts';
import { type BrowserSession, findSessions, isAlive, touchSession } from './store.ts';

export type SessionDirectory = {
  /**
   * Returns the log-in that a secret opens, or null, and notes that it was used.
   * @throws AssayError store_unavailable when Postgres is away and the log-in is not known
   */
  find(secret: string): Promise<BrowserSession | null>;
  /** Forgets the log-ins of a key. The process that has ended one need not wait for the notification. */
  forgetOf(keyId: string): void;
  stop(): Promise<void>;
};

export type SessionDirectoryOptions = {
  sql: Sql;
  listener: Listener;
  /** Where ends of log-ins are announced too. */
  watcher: ChangeWatcher;
  clock: Clock;
  log: Logger;
};

/** Log-ins in the cache, of 500 bytes each. */
const MAX_SESSIONS = 5_000;
/** Look-ups at a time: strangers make up cookies, as they do keys. */
const MAX_GATHERED_LOOKUPS = 20_000;
/** The use of a log-in is written once in this time: far less often than its calls, far more often than it could run out. */
const TOUCH_MS = 60_000;

/** Creates the directory of this process, which begins to listen at once. */
export function createSessionDirectory(options: SessionDirectoryOptions): SessionDirectory {
  const { sql, listener, watcher, clock, log } = options;
  const sessions = createStoreCache<Buffer, BrowserSession | null>({
    clock,
    max: MAX_SESSIONS,
    maxLookups: MAX_GATHERED_LOOKUPS,
    failure: 'The log-in cannot be checked now: its store is unavailable',
    load: createGathered({ load: (digests) => findSessions(sql, digests) }),
  });
  const listening = listener.listen({
    channel: BROWSER_SESSIONS_CHANNEL,
    onNotify: (endedId) => sessions.forget((_, session) => session?.sessionId === endedId),
    onListening: sessions.onListening,
    onLost: sessions.onLost,
  });
  const watching = watcher.watch({
    subject: BROWSER_SESSION_CHANGES_SUBJECT,
    onChange: sessions.revalidate,
  });

  /** Notes in memory at once, so that one call of many writes. A use that could not be written is one of the next minute. */
  function touch(session: BrowserSession, nowMs: number): void {
    if (nowMs < session.lastUsedAt.getTime() + TOUCH_MS) return;
    session.lastUsedAt = new Date(nowMs);
    touchSession(sql, session.sessionId, session.lastUsedAt).catch((error) =>
      log.warn({ error: describeError(error) }, 'The use of a log-in was not written'),
    );
  }

  return {
    find: async (secret) => {
      const digest = hashSecret(secret);
      if (digest === null) return null;
      const session = await sessions.find(digest.toString('latin1'), digest);
      const nowMs = clock.now();
      if (session === null || !isAlive(session, nowMs)) return null;
      touch(session, nowMs);
      return session;
    },
    forgetOf: (keyId) => sessions.forget((_, session) => session?.keyId === keyId),
    stop: async () => {
      await Promise.all([listening.stop(), watching.stop()]);
    },
  };
}
