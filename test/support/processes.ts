/** Who runs, as /proc has it. */
import { readdirSync, readFileSync } from 'node:fs';

export type Process = {
  pid: number;
  parent: number;
  /** With the pid, unique since boot. */
  startedAt: number;
  /** What it has used of CPU, in hundredths of a second. */
  cpuTicks: number;
};

function read(pid: string): Process | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    // A zombie is over: it waits for its parent, which may be whoever adopts orphans.
    if (fields[0] === 'Z') return null;
    return {
      pid: Number(pid),
      parent: Number(fields[1]),
      startedAt: Number(fields[19]),
      cpuTicks: Number(fields[11]) + Number(fields[12]),
    };
  } catch {
    return null;
  }
}

/** All that descend from `root`, without it, nearest first. */
export function descendantsOf(root: number): Process[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => read(pid) ?? []);
  const found: Process[] = [];
  for (let generation = [root]; generation.length > 0; ) {
    const next = all.filter(({ parent }) => generation.includes(parent));
    found.push(...next);
    generation = next.map(({ pid }) => pid);
  }
  return found;
}

export function isRunning({ pid, startedAt }: Process): boolean {
  return read(String(pid))?.startedAt === startedAt;
}

/** The CPU seconds after which it is told to end; null when it has ended, or may take any. */
export function cpuLimitOf({ pid }: Process): number | null {
  try {
    const [, seconds] = /^Max cpu time +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? [];
    return seconds === undefined ? null : Number(seconds);
  } catch {
    return null;
  }
}

/** Waits until `condition` holds, 30 s at most; whether it does. */
export async function eventually(condition: () => boolean): Promise<boolean> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
