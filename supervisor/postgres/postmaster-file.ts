/** `postmaster.pid`: what a running server writes about itself, and what a killed one leaves behind. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STATUS_LINE = 7;
const POLL_MS = 20;
/** A fast shutdown writes a checkpoint; the immediate one that follows writes nothing, and recovers at the next start. */
const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;

function readLines(cluster: string): string[] | null {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return null;
  }
}

/** Whether the server with this process id has opened its port and answers. */
export function isReady(cluster: string, pid: number): boolean {
  const lines = readLines(cluster);
  return lines !== null && Number(lines[0]) === pid && lines[STATUS_LINE]?.startsWith('ready') === true;
}

/** The command line of a process; empty when there is none, or a zombie. */
function commandLine(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline'))
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

/** Process ids are used again, after a reboot and in containers above all: only a server of this cluster counts. */
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

/**
 * Makes way for a new server on `cluster`: stops one that outlived its supervisor. The caller holds the lock on the
 * data directory, so nobody uses it rightfully.
 * @throws Error with a sentence when it does not stop
 */
export async function stopOrphan(cluster: string): Promise<{ stopped: boolean }> {
  const lines = readLines(cluster);
  const pid = Number(lines?.[0]);
  if (lines === null || !Number.isSafeInteger(pid) || pid <= 1) return { stopped: false };
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
 * A new server refuses to start while the process id in the file is alive, whosever it is by now, except when it is its
 * own parent's. So the file gets this process's id, and keeps the rest: by its shared memory key the server still finds
 * out whether a session of the dead one lives on.
 */
function leaveToParent(cluster: string, lines: string[]): void {
  writeFileSync(join(cluster, 'postmaster.pid'), [String(process.pid), ...lines.slice(1)].join('\n'));
}
