/**
 * Who uses a data directory, under `run` in it: a lock for the supervisor, one for each process of its roles, and, while
 * the embedded PostgreSQL runs, how to reach it.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Lock, lockWithin, tryLock } from '#platform/process/process-lock.ts';

function runPath(dataDir: string, file: string): string {
  const directory = join(dataDir, 'run');
  // Others may pass through the data directory, as PostgreSQL's account must when Assay runs as root; not look into it.
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return join(directory, file);
}

/** Makes the data directory its caller's own, or returns null when another process of Assay has it. */
export function lockDataDir(dataDir: string): Lock | null {
  return tryLock(runPath(dataDir, 'assay.lock'));
}

/** Processes of one role at a time: twice as many gateways as there may be, for a restart. */
const MAX_PROCESSES = 128;

/**
 * Taken by a process of a role that a supervisor started, so that the next supervisor sees whether it lives on: the first
 * of the role's locks that is free.
 */
export function lockRole(dataDir: string, role: string): Lock {
  for (let number = 1; number <= MAX_PROCESSES; number += 1) {
    const lock = tryLock(runPath(dataDir, `${role}-${number}.lock`));
    if (lock !== null) return lock;
  }
  throw new Error(`More than ${MAX_PROCESSES} processes of the role ${role} run in DATA_DIR ${dataDir}`);
}

/**
 * Waits until the processes of a role of an earlier supervisor, killed in the middle, have ended by themselves; `onWait`
 * is called when there is one.
 * @throws Error with a sentence when one does not end
 */
export async function waitForFormerRole(
  dataDir: string,
  role: string,
  waitMs: number,
  onWait: () => void,
): Promise<void> {
  const pattern = new RegExp(`^${role}-\\d+\\.lock$`);
  for (const file of readdirSync(dirname(runPath(dataDir, role))).filter((name) => pattern.test(name))) {
    let lock = tryLock(runPath(dataDir, file));
    if (lock === null) {
      onWait();
      lock = await lockWithin(runPath(dataDir, file), waitMs);
    }
    if (lock === null) {
      throw new Error(
        `The ${role} of an earlier start still runs in DATA_DIR ${dataDir}: end it, then start again`,
      );
    }
    lock.release();
  }
}

/** Leaves word of how the running PostgreSQL is reached, for commands in other terminals. It holds the password. */
export function announceStore(dataDir: string, url: string): void {
  writeFileSync(runPath(dataDir, 'store.json'), JSON.stringify({ url }), { mode: 0o600 });
}

export function withdrawStore(dataDir: string): void {
  rmSync(runPath(dataDir, 'store.json'), { force: true });
}

const POLL_MS = 100;

/** The url that was announced, waiting for it while Assay starts; null when none comes. */
export async function findStore(dataDir: string, waitMs: number): Promise<string | null> {
  const deadline = performance.now() + waitMs;
  while (true) {
    try {
      return (JSON.parse(readFileSync(runPath(dataDir, 'store.json'), 'utf8')) as { url: string }).url;
    } catch {
      if (performance.now() > deadline) return null;
    }
    await sleep(POLL_MS);
  }
}

/**
 * Where Node keeps the roles' code compiled, for it to start again in half the time: what a gateway that was killed costs
 * its callers. Closed to other users, as what lies there is run.
 */
export function compiledDirectory(dataDir: string): string {
  const directory = join(dataDir, 'compiled');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}
