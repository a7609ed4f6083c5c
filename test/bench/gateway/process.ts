/** Child processes of a benchmark: pinned to cores where the system can, and what they use. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

const LAST_CORE = availableParallelism() - 1;

/**
 * The measured gateway has a core of its own; everything else shares the others; `two` is for a machine of two cores
 * within a larger one. Null: cannot pin here.
 */
let cores = canPin ? { gateway: '0', others: LAST_CORE > 1 ? `1-${LAST_CORE}` : '1', two: '0,1' } : null;

/** Leaves all processes of this run on all cores, and with the priorities they give themselves, as `npm start` does. */
export function leaveUnpinned(): void {
  cores = null;
}

/** Moves a running process, with all its threads and the children it will have, to its cores. */
export function pin(pid: number, to: 'gateway' | 'others' | 'two'): void {
  if (cores !== null) execFileSync('taskset', ['-acp', cores[to], String(pid)], { stdio: 'ignore' });
}

/** Whether what is pinned to `two` has these two cores and no others. */
export const HAS_TWO_CORES = canPin || availableParallelism() === 2;

/** Says how cores are shared out, for the report. */
export function describePinning(): string[] {
  if (cores === null) return ['No pinning: what is measured shares its cores with everything else.'];
  return [
    `What is measured has core ${cores.gateway} to itself: each gateway, and for "direct" a provider. Load generator and the`,
    `gateways' provider share ${cores.others} with this gateway's ingest and Postgres, which give way to them.`,
  ];
}

/**
 * Lets everything that a process has started, but for one of them, give way to the rest of its core: work that elsewhere
 * has cores of its own.
 */
export async function giveWay(ancestor: number, except: number): Promise<void> {
  await schedule(
    descendantsOf(ancestor).filter((pid) => pid !== except),
    IDLE,
  );
}

/** Ends `giveWay`: what was put off is done as soon as by anybody else. */
export async function takePart(ancestor: number, except: number): Promise<void> {
  await schedule(
    descendantsOf(ancestor).filter((pid) => pid !== except),
    ORDINARY,
  );
}

type Priority = { policy: '--idle' | '--other'; sessionNice: number };

/** Not nice: a nice process is still run to the end of its slice, milliseconds, before the provider may answer. */
const IDLE: Priority = { policy: '--idle', sessionNice: 19 };
const ORDINARY: Priority = { policy: '--other', sessionNice: 0 };

async function schedule(pids: readonly number[], priority: Priority): Promise<void> {
  if (cores === null) return;
  for (const pid of pids) {
    for (let attempt = 1; !setSessionNice(pid, priority) || !setPolicy(pid, priority); attempt += 1) {
      if (attempt === GIVE_WAY_ATTEMPTS) throw new Error(`Cannot change the priority of process ${pid}`);
      await sleep(GIVE_WAY_RETRY_MS);
    }
  }
}

/**
 * Where the kernel shares a core out among sessions (`sched_autogroup`), the priority of a process counts within its own
 * alone, and each role and PostgreSQL have one: so the sessions give way as well.
 */
function setSessionNice(pid: number, { sessionNice }: Priority): boolean {
  const path = `/proc/${pid}/autogroup`;
  try {
    if (!readFileSync(path, 'utf8').endsWith(`nice ${sessionNice}\n`))
      writeFileSync(path, String(sessionNice));
    return true;
  } catch (error) {
    // Else it has ended, or the kernel knows no such groups.
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  }
}

/** Backends of PostgreSQL and threads come and go, and one that ends meanwhile makes chrt fail. */
const GIVE_WAY_ATTEMPTS = 10;
/** Who is not root may make a session nice ten times a second. */
const GIVE_WAY_RETRY_MS = 100;

function setPolicy(pid: number, { policy }: Priority): boolean {
  const { status } = spawnSync('chrt', ['--all-tasks', policy, '--pid', '0', String(pid)]);
  return status === 0 || !existsSync(`/proc/${pid}`);
}

function descendantsOf(pid: number): number[] {
  const children = childrenOf(pid);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Returns a process and all that it has started. */
export function processesOf(pid: number): number[] {
  return [pid, ...descendantsOf(pid)];
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
      const listed = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim();
      return listed === '' ? [] : listed.split(' ').map(Number);
    });
  } catch {
    // It has ended.
    return [];
  }
}

/** Starts this Node on a script. Its errors come through, its output does not. */
export function spawnNode(
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; ipc?: boolean } = {},
): ChildProcess {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    stdio: ['ignore', 'ignore', 'inherit', ...(options.ipc === true ? (['ipc'] as const) : [])],
    env: options.env ?? process.env,
    serialization: 'advanced',
  });
}

/** Ends a child and waits for it. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** Linux counts CPU time in hundredths of a second. */
const TICK_MICROSECONDS = 10_000;

/** Fields of /proc/<pid>/stat, counted from behind the name: own user and system time, and that of ended children. */
const OWN_TIME = [11, 12];
const OWN_AND_ENDED_TIME = [11, 12, 13, 14];

function readTimes(pid: number, fields: readonly number[]): number | null {
  try {
    const all = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return fields.reduce((sum, field) => sum + Number(all[field]), 0) * TICK_MICROSECONDS;
  } catch {
    return null;
  }
}

/** CPU time that a process has used, user and system, all its threads: microseconds, to 10 ms. Linux only, else NaN. */
export function cpuMicroseconds(pid: number): number {
  return readTimes(pid, OWN_TIME) ?? Number.NaN;
}

/** The same of a process with all that it has started, ended ones included. */
export function treeCpuMicroseconds(pid: number): number {
  const own = readTimes(pid, OWN_AND_ENDED_TIME);
  if (own === null) return Number.NaN;
  // One that ends meanwhile counts as ended the next time.
  return descendantsOf(pid).reduce((sum, one) => sum + (readTimes(one, OWN_AND_ENDED_TIME) ?? 0), own);
}

/** Returns the process id of the PostgreSQL in a data directory of Assay. */
export function postmasterOf(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** CPU time up to a moment: microseconds. */
export type BusyTimes = { atMs: number; everybody: number; ours: number };

/** Fields of a core's line in /proc/stat: user, nice, system, irq, softirq, steal. */
const BUSY_TIME = [1, 2, 3, 6, 7, 8];

/** CPU time used so far on the first two cores, and by this process with all that it has started. Linux only, else NaN. */
export function busyTimes(): BusyTimes {
  const ours = treeCpuMicroseconds(process.pid);
  let everybody = Number.NaN;
  try {
    const cores = readFileSync('/proc/stat', 'utf8').split('\n').slice(1, 3);
    const times = cores.flatMap((core) => BUSY_TIME.map((field) => Number(core.split(' ')[field])));
    everybody = times.reduce((sum, time) => sum + time, 0) * TICK_MICROSECONDS;
  } catch {
    // Not Linux.
  }
  return { atMs: performance.now(), everybody, ours };
}

/** The part of two cores that others had between two moments, from 0 to 1; NaN where it cannot be told. */
export function shareOfOthers(before: BusyTimes, after: BusyTimes): number {
  if (!HAS_TWO_CORES) return Number.NaN;
  const others = after.everybody - before.everybody - (after.ours - before.ours);
  return Math.max(0, others / (2 * 1_000 * (after.atMs - before.atMs)));
}

function statusBytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1];
    return Number(kib) * 1_024;
  } catch {
    return Number.NaN;
  }
}

/** Memory that a process holds: bytes. Linux only, else NaN. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS');
}

/** The most memory that a process has held since `resetPeakBytes`: bytes. Linux only, else NaN. */
export function peakResidentBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM');
}

/** Begins `peakResidentBytes` anew with what the process holds now. */
export function resetPeakBytes(pid: number): void {
  try {
    // https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // The process has ended, or the kernel does not offer it: the peak is then that since its start.
  }
}
