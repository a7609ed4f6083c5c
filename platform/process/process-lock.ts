/**
 * A lock between processes that the kernel drops when its holder dies, however it dies: an exclusive lock on a SQLite
 * file. No process id is written anywhere, so none can be stale or belong to somebody else by now.
 */
import { DatabaseSync } from 'node:sqlite';

export type Lock = {
  /** Gives the lock up. Harmless when done twice. */
  release(): void;
};

/** Held here too: a garbage-collected database would close its file and lose the lock. */
const heldDatabases = new Set<DatabaseSync>();

/** Nothing is ever written, so there is no need of a journal beside the file. */
const TAKE =
  'pragma busy_timeout = 0; pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive';

/** SQLITE_BUSY; Deno's node:sqlite has no code on its errors, only SQLite's text. */
function isBusy(error: unknown): boolean {
  const { errcode, message } = error as { errcode?: number; message?: string };
  return errcode === 5 || message === 'database is locked';
}

/**
 * Takes the lock at `path` (a file, made when missing, never removed), or returns null when another process, or this
 * one, has it.
 * @throws when the file cannot be made or is not a lock file
 */
export function tryLock(path: string): Lock | null {
  const database = new DatabaseSync(path);
  try {
    database.exec(TAKE);
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  heldDatabases.add(database);
  return {
    release() {
      if (heldDatabases.delete(database)) database.close();
    },
  };
}

const RETRY_MS = 50;

/** As `tryLock`, but keeps trying for `waitMs`. */
export async function lockWithin(path: string, waitMs: number): Promise<Lock | null> {
  const deadline = performance.now() + waitMs;
  while (true) {
    const lock = tryLock(path);
    if (lock !== null || performance.now() >= deadline) return lock;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
