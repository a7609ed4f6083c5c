/** What a figure was measured on. */
import { cpus, release, totalmem } from 'node:os';

/** One line for the head of a report. */
export function describeMachine(): string {
  const cores = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  const model = cores[0]?.model.trim() ?? 'unknown CPU';
  const date = new Date().toISOString().slice(0, 10);
  return `${model}, ${cores.length} cores, ${gib} GiB, ${process.platform} ${release()}, Node ${process.versions.node}, ${date}`;
}
