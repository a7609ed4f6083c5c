import { accessSync, constants, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeError } from '#core/contracts/errors.ts';

/** Rights that creating a file in a directory needs. */
const MAY_WRITE = constants.W_OK | constants.X_OK;

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** Returns why no file can be made at or below `path`, as the nearest directory that can be seen tells; null: it tells of nothing. */
function findObstacle(path: string): string | null {
  const stats = statOrNull(path);
  if (stats === null) return path === dirname(path) ? null : findObstacle(dirname(path));
  if (!stats.isDirectory()) return `${path} is not a directory`;
  try {
    accessSync(path, MAY_WRITE);
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS') return `${path} is on a read-only file system`;
    return `user ${process.getuid?.()} may not write to ${path}, which belongs to user ${stats.uid}`;
  }
}

/**
 * Makes a directory and those above it that are missing. Not by the `recursive` of Node's `mkdir`, which never returns where the
 * system says that the parent is missing although it exists, as below /proc.
 */
function makeWithParents(path: string, mode: number): void {
  const parent = dirname(path);
  if (parent !== path && statOrNull(parent) === null) makeWithParents(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process of the same start may have made it meanwhile; a file there fails the check that follows.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Makes a directory of DATA_DIR unless it exists. What the system and SQLite say of one that cannot be used names neither the
 * variable nor the cause, which is most often a start by another user.
 * @throws Error with a sentence when this process cannot make files there
 */
export function makeDataDirectory(path: string, mode: number): void {
  try {
    makeWithParents(path, mode);
    accessSync(path, MAY_WRITE);
  } catch (cause) {
    const reason = findObstacle(path) ?? describeError(cause);
    throw new Error(`Cannot write to ${path} (DATA_DIR): ${reason}`, { cause });
  }
}
