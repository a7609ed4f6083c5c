/**
 * A lock between processes that the kernel releases when its holder dies, in any way: an exclusive lock on a SQLite file. No
 * process id is written, so none can be stale or belong to another process by now.
 */
import { DatabaseSync } from 'node:sqlite';
import { describeError } from '#core/contracts/errors.ts';

export type Lock = {
  /** Releases the lock. Does nothing the second time. */
  release(): void;
};

/** Keeps databases alive: a garbage-collected one would close its file and lose the lock. */
const heldDatabases = new Set<DatabaseSync>();

/** Takes the lock without a journal file, because nothing is ever written. */
const TAKE =
  'pragma busy_timeout = 0; pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive';

/** Returns whether an error is SQLITE_BUSY; errors of Deno's node:sqlite have no code, only SQLite's text. */
function isBusy(error: unknown): boolean {
  const { errcode, message } = error as { errcode?: number; message?: string };
  return errcode === 5 || message === 'database is locked';
}

/**
 * Takes the lock at `path`, a file that is created if missing and never removed. Returns null when another process, or this
 * one, holds it.
 * @throws Error when the file cannot be created or is not a lock file, then with its name
 */
export function tryLock(path: string): Lock | null {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path);
    database.exec(TAKE);
  } catch (error) {
    database?.close();
    if (isBusy(error)) return null;
    // SQLite's own words name no file.
    throw new Error(`Cannot take the lock ${path}: ${describeError(error)}`, { cause: error });
  }
  heldDatabases.add(database);
  return {
    release() {
      if (heldDatabases.delete(database)) database.close();
    },
  };
}

const RETRY_MS = 50;

/** Takes the lock as `tryLock` does, and keeps trying for `waitMs`. */
export async function lockWithin(path: string, waitMs: number): Promise<Lock | null> {
  const deadline = performance.now() + waitMs;
  while (true) {
    const lock = tryLock(path);
    if (lock !== null || performance.now() >= deadline) return lock;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
