/** `postmaster.pid`: a running server's description of itself, which a killed server leaves behind. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STATUS_LINE = 7;
const POLL_MS = 20;
/** A fast shutdown writes a checkpoint; the immediate one that follows writes nothing, and recovers at the next start. */
const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;
/** A server that starts fills the file at once; a machine under load may keep it from that for a moment. */
const FILL_MS = 1_000;

function readLines(cluster: string): string[] | null {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return null;
  }
}

/** Returns whether the server with this process id has opened its port and accepts connections. */
export function isReady(cluster: string, pid: number): boolean {
  const lines = readLines(cluster);
  return lines !== null && Number(lines[0]) === pid && lines[STATUS_LINE]?.startsWith('ready') === true;
}

/** Returns the command line of a process; empty when there is no such process, or it is a zombie. */
function commandLine(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline'))
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

/** Returns whether a process is a server of this cluster. Process ids are reused, above all after a reboot and in containers. */
function isServerOf(cluster: string, pid: number): boolean {
  const command = commandLine(pid);
  return command.includes('postgres') && command.includes(cluster);
}

async function endsWithin(cluster: string, pid: number, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (isServerOf(cluster, pid)) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Returns whether the first line of the file is a process id. */
function isFilled(lines: string[]): boolean {
  const pid = Number(lines[0]);
  return Number.isSafeInteger(pid) && pid > 1;
}

/**
 * Returns the lines of the file; null when there is none. One that names no process, as a power cut or a full disk leaves it, is
 * removed, because a new server refuses to start beside it.
 * @throws Error with a sentence when a process may still use the cluster
 */
async function filledLines(cluster: string): Promise<string[] | null> {
  const deadline = performance.now() + FILL_MS;
  for (;;) {
    const lines = readLines(cluster);
    if (lines === null || isFilled(lines)) return lines;
    if (performance.now() > deadline) break;
    await sleep(POLL_MS);
  }
  const file = join(cluster, 'postmaster.pid');
  const users = processesIn(cluster);
  if (users === null || users.length > 0) {
    const who = users === null ? 'a PostgreSQL' : `a PostgreSQL (process ${users.join(', ')})`;
    throw new Error(
      `${file} names no process, and ${who} may use ${cluster}: end it, remove the file, then start again`,
    );
  }
  rmSync(file, { force: true });
  return null;
}

/** Returns the processes that work in a directory, as each process of a server does in its cluster; null: this system does not tell. */
function processesIn(directory: string): number[] | null {
  if (!existsSync('/proc/self/cwd')) return null;
  const wanted = realpathSync(directory);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === wanted;
      } catch {
        // It has ended, or belongs to another user, as no server of this cluster does.
        return false;
      }
    });
}

/**
 * Stops a server on `cluster` that outlived its supervisor. The caller holds the lock on the data directory, so that no
 * other supervisor uses that server.
 * @throws Error with a sentence when it does not stop
 */
export async function stopOrphan(cluster: string): Promise<{ stopped: boolean }> {
  const lines = await filledLines(cluster);
  if (lines === null) return { stopped: false };
  const pid = Number(lines[0]);
  if (!isServerOf(cluster, pid)) {
    leaveToParent(cluster, lines);
    return { stopped: false };
  }
  process.kill(pid, 'SIGINT');
  if (await endsWithin(cluster, pid, FAST_SHUTDOWN_MS)) return { stopped: true };
  process.kill(pid, 'SIGQUIT');
  if (await endsWithin(cluster, pid, IMMEDIATE_SHUTDOWN_MS)) return { stopped: true };
  throw new Error(
    `The PostgreSQL of an earlier start (process ${pid}) does not stop: end it, then start again`,
  );
}

/**
 * Writes this process's id into the file. A new server refuses to start while the process id in the file is alive, even
 * when another program has it by now, unless the id is that of the server's parent. The rest of the file stays: by its
 * shared memory key the server still detects sessions of the dead server that are alive.
 */
function leaveToParent(cluster: string, lines: string[]): void {
  writeFileSync(join(cluster, 'postmaster.pid'), [String(process.pid), ...lines.slice(1)].join('\n'));
}
