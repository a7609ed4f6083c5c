/** `postmaster.pid`: a running server's description of itself, which a killed server leaves behind. */
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

/**
 * Stops a server on `cluster` that outlived its supervisor. The caller holds the lock on the data directory, so that no
 * other supervisor uses that server.
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
 * Writes this process's id into the file. A new server refuses to start while the process id in the file is alive, even
 * when another program has it by now, unless the id is that of the server's parent. The rest of the file stays: by its
 * shared memory key the server still detects sessions of the dead server that are alive.
 */
function leaveToParent(cluster: string, lines: string[]): void {
  writeFileSync(join(cluster, 'postmaster.pid'), [String(process.pid), ...lines.slice(1)].join('\n'));
}
