/**
 * The `run` folder of a data directory shows which processes use it: it holds a lock for the supervisor, one for each
 * process of its roles and, while the embedded PostgreSQL runs, its address.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDataDirectory } from '#platform/process/data-directory.ts';
import { type Lock, lockWithin, tryLock } from '#platform/process/process-lock.ts';

function runPath(dataDir: string, file: string): string {
  const directory = join(dataDir, 'run');
  // Other users may traverse the data directory but not list it: PostgreSQL's account must, when Assay runs as root.
  if (!existsSync(directory)) makeDataDirectory(dataDir, 0o711);
  makeDataDirectory(directory, 0o700);
  return join(directory, file);
}

/** Locks the data directory for the caller; returns null when another process of Assay holds it. */
export function lockDataDir(dataDir: string): Lock | null {
  return tryLock(runPath(dataDir, 'assay.lock'));
}

/** Processes of one role at a time: twice the largest number of gateways, as a rolling restart doubles them. */
const MAX_PROCESSES = 128;

/**
 * Takes the first free lock of a role. Every supervised process holds one, so that the next supervisor can see whether a
 * process of an earlier start is still alive.
 */
export function lockRole(dataDir: string, role: string): Lock {
  for (let number = 1; number <= MAX_PROCESSES; number += 1) {
    const lock = tryLock(runPath(dataDir, `${role}-${number}.lock`));
    if (lock !== null) return lock;
  }
  throw new Error(`More than ${MAX_PROCESSES} processes of the role ${role} run in DATA_DIR ${dataDir}`);
}

/**
 * Waits until the processes of a role that a killed supervisor left behind have ended by themselves.
 * @param onWait called for each process that is still alive
 * @throws Error with a sentence when one does not end in time
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

/** Writes the running PostgreSQL's url, password included, for commands in other terminals (readable by the owner only). */
export function announceStore(dataDir: string, url: string): void {
  writeFileSync(runPath(dataDir, 'store.json'), JSON.stringify({ url }), { mode: 0o600 });
}

/** Removes the announced url. */
export function withdrawStore(dataDir: string): void {
  rmSync(runPath(dataDir, 'store.json'), { force: true });
}

const POLL_MS = 100;

/** Returns the announced url, waiting for it while Assay starts; null when it does not appear in time. */
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
 * Makes the folder where Node caches the roles' compiled code, which halves the start of a role and so the time that
 * clients wait when a gateway was killed. Closed to other users, because what lies there is executed.
 */
export function compiledDirectory(dataDir: string): string {
  const directory = join(dataDir, 'compiled');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}
