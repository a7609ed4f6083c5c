/** A gateway's disk that can be full for a while. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lock, tryLock } from '#platform/process/process-lock.ts';

export type Disk = {
  /** How it is filled, for the report. */
  how: string;
  fill(): void;
  empty(): void;
  /** Takes it away; what is on it goes too. */
  remove(): void;
};

/** More than a gateway's backlog takes in a long run: it should be full when a fault says so, and not by itself. */
const SIZE = '8g';
const REMOUNT_ATTEMPTS = 20;

function mount(...parameters: string[]): boolean {
  return spawnSync('mount', parameters).status === 0;
}

/**
 * A file system of its own on `directory`, which is made as small as what it holds: writes fail with ENOSPC. Null where
 * that is not allowed: it takes root.
 */
export function smallDisk(directory: string): Disk | null {
  if (!mount('-t', 'tmpfs', '-o', `size=${SIZE}`, 'assay-chaos', directory)) return null;
  return {
    how: 'a file system without room',
    fill: () => {
      // What is written between the look and the change makes the change fail: less than is used is not possible.
      for (let attempt = 0; attempt < REMOUNT_ATTEMPTS; attempt += 1) {
        const { blocks, bfree, bsize } = statfsSync(directory);
        if (mount('-o', `remount,size=${(blocks - bfree) * bsize}`, directory)) return;
      }
      throw new Error(`Cannot make the file system on ${directory} smaller`);
    },
    empty: () => {
      if (!mount('-o', `remount,size=${SIZE}`, directory)) throw new Error(`Cannot enlarge ${directory}`);
    },
    remove: () => {
      spawnSync('umount', ['--lazy', directory]);
    },
  };
}

/** An outbox of nobody's, which no listing of outboxes shows while it is unfinished. */
const FILLER = 'chaos';

/**
 * The bound of the outboxes below `dataDir`, reached by one more among them: a sparse file, whose lock is held so that
 * nobody takes it for an outbox that was left behind. The gateway measures once a second.
 */
export function boundedDisk(dataDir: string, maxBytes: number): Disk {
  const root = join(dataDir, 'outbox');
  const [hidden, shown] = [join(root, `.new-${FILLER}`), join(root, FILLER)];
  mkdirSync(hidden, { recursive: true });
  const file = join(hidden, '0000000001.log');
  writeFileSync(file, '');
  truncateSync(file, maxBytes);
  const lock: Lock = tryLock(join(hidden, 'owner.lock'))!;
  return {
    how: 'OUTBOX_MAX_BYTES',
    fill: () => renameSync(hidden, shown),
    empty: () => renameSync(shown, hidden),
    remove: () => {
      lock.release();
      for (const directory of [hidden, shown]) rmSync(directory, { recursive: true, force: true });
    },
  };
}
