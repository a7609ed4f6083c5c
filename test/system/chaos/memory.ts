import { readFileSync } from 'node:fs';

/** The most memory that a process has held at a time, in bytes. Linux only, else 0; 0 too when it is gone. */
export function highestResidentBytes(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}
