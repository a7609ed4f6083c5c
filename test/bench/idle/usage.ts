/** Processor time, wake-ups and memory of processes, as Linux counts them. */
import { readdirSync, readFileSync } from 'node:fs';

export type Usage = {
  command: string;
  /** User and system time of all threads that are there. */
  cpuNanoseconds: number;
  /** Times that a thread went to sleep of itself: each is a wake-up. */
  switches: number;
  /** Own memory, and the process's share of what it has with others. */
  pssBytes: number;
};

/** Returns a number behind a name in a file of /proc. */
function numberIn(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

function usageOf(pid: number): Usage {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const at = `/proc/${pid}/task/${thread}`;
    return {
      // The first of three numbers: the scheduler's own count, finer than the ticks of `stat`.
      cpu: Number(readFileSync(`${at}/schedstat`, 'utf8').split(' ')[0]),
      switches: numberIn(readFileSync(`${at}/status`, 'utf8'), 'voluntary_ctxt_switches'),
    };
  });
  return {
    command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '),
    cpuNanoseconds: threads.reduce((sum, { cpu }) => sum + cpu, 0),
    switches: threads.reduce((sum, { switches }) => sum + switches, 0),
    pssBytes: numberIn(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss') * 1_024,
  };
}

/** Reads what processes have used so far; those that have ended are left out. */
export function readUsage(pids: readonly number[]): Map<number, Usage> {
  const found = new Map<number, Usage>();
  for (const pid of pids) {
    try {
      found.set(pid, usageOf(pid));
    } catch {
      // The process has ended.
    }
  }
  return found;
}

/** Names the group that a process is counted in, by its command line. */
export function groupOf(command: string): string {
  const role = /main\.[jt]s (gateway|api|ingest|evaluators)\b/.exec(command)?.[1];
  if (role !== undefined) return role;
  if (/main\.[jt]s/.test(command)) return 'supervisor';
  if (/postgres/.test(command))
    return /client backend|127\.0\.0\.1|\[local\]/.test(command) ? 'PostgreSQL, connections' : 'PostgreSQL';
  return 'sandbox';
}
