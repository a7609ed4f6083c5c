/** What a process and its descendants have used of the CPU. */
import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ: what Linux counts in, on every machine. */
const TICKS_PER_SECOND = 100;

type Usage = { parent: number; ticks: number };

function usageOf(pid: string): Usage | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name, in brackets, may have spaces in it.
    const fields = line
      .slice(line.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, childrensUser = 0, childrensSystem = 0] = fields.slice(11, 15);
    return { parent: fields[1] ?? 0, ticks: user + system + childrensUser + childrensSystem };
  } catch {
    return null; // it has ended meanwhile
  }
}

/** CPU seconds of a process, of what it has waited for, and of the same of its living descendants. */
export function familyCpuSeconds(root: number): number {
  const usages = new Map<number, Usage>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const usage = usageOf(pid);
    if (usage !== null) usages.set(Number(pid), usage);
  }
  const belongs = (pid: number): boolean =>
    pid === root || (usages.has(pid) && belongs(usages.get(pid)!.parent));
  let ticks = 0;
  for (const [pid, usage] of usages) if (belongs(pid)) ticks += usage.ticks;
  return ticks / TICKS_PER_SECOND;
}
