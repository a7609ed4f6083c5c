/**
 * `npm run bench idle`: what all that `npm start` runs takes while nobody calls it: processor time, memory and processes, and how
 * long a start takes. Linux only: it reads /proc.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { runMain, temporaryDataDir } from '../support/assay.ts';
import { freePort } from '../support/free-port.ts';
import { endProcess, processesOf } from './gateway/process.ts';
import { groupOf, readUsage, type Usage } from './idle/usage.ts';
import { describeMachine } from './machine.ts';
import { formatTable, print } from './table.ts';

type Options = { settle: number; seconds: number; starts: number };
type Running = ReturnType<typeof runMain>;

const READY_WITHIN_MS = 120_000;
const POLL_MS = 5;
const MIB = 1_048_576;

/** Starts everything in a data directory; returns it with the milliseconds until it said that it was ready. */
async function start(dataDir: string): Promise<{ assay: Running; readyMs: number }> {
  // A port that is known, as by default: roles that call the gateway do not wait for it then.
  const port = String(await freePort());
  const startedAt = performance.now();
  const assay = runMain([], {
    DATA_DIR: dataDir,
    GATEWAY_PORT: port,
    API_PORT: '0',
    LOG_LEVEL: 'warn',
    // As `npm start` has it.
    NODE_COMPILE_CACHE: join(dataDir, 'compiled'),
  });
  while (!assay.stdout().includes('Assay is ready')) {
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > READY_WITHIN_MS || assay.process.exitCode !== null)
      throw new Error(`Assay did not start:\n${assay.stderr()}`);
    await sleep(POLL_MS);
  }
  return { assay, readyMs: performance.now() - startedAt };
}

/** Formats the use of each group of processes between two moments. A process that came meanwhile counts whole, one that ended not at all. */
function table(
  before: ReadonlyMap<number, Usage>,
  after: ReadonlyMap<number, Usage>,
  seconds: number,
): string {
  const groups = new Map<string, { processes: number; cpu: number; switches: number; pss: number }>();
  const all = { processes: 0, cpu: 0, switches: 0, pss: 0 };
  for (const [pid, now] of after) {
    const then = before.get(pid);
    const name = groupOf(now.command);
    const group = groups.get(name) ?? { processes: 0, cpu: 0, switches: 0, pss: 0 };
    groups.set(name, group);
    for (const sum of [group, all]) {
      sum.processes += 1;
      sum.cpu += now.cpuNanoseconds - (then?.cpuNanoseconds ?? 0);
      sum.switches += now.switches - (then?.switches ?? 0);
      sum.pss += now.pssBytes;
    }
  }
  const row = (name: string, { processes, cpu, switches, pss }: typeof all) => [
    name,
    String(processes),
    (cpu / 1e7 / seconds).toFixed(2),
    (switches / seconds).toFixed(1),
    (pss / MIB).toFixed(0),
  ];
  return formatTable([
    ['', 'processes', '% of a core', 'wake-ups/s', 'PSS, MiB'],
    ...[...groups].sort().map(([name, group]) => row(name, group)),
    row('all', all),
  ]);
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const { settle, seconds, starts } = new Command('bench idle')
    .description('What everything takes while nobody calls it, and how long a start takes')
    .option('--settle <seconds>', 'before the measurement', Number, 30)
    .option('--seconds <number>', 'of the measurement', Number, 60)
    .option('--starts <number>', 'of a cluster that is there, after the first', Number, 3)
    .parse(args, { from: 'user' })
    .opts<Options>();
  const dataDir = temporaryDataDir();
  try {
    const first = await start(dataDir.path);
    const warmMs: number[] = [];
    let { assay } = first;
    for (let round = 0; round < starts; round += 1) {
      await endProcess(assay.process);
      const again = await start(dataDir.path);
      warmMs.push(Math.round(again.readyMs));
      assay = again.assay;
    }
    await sleep(settle * 1_000);
    const pid = assay.process.pid!;
    const before = readUsage(processesOf(pid));
    await sleep(seconds * 1_000);
    const after = readUsage(processesOf(pid));
    print(
      `${describeMachine()}\nready after ${Math.round(first.readyMs)} ms, with a cluster ${warmMs.join(', ')} ms\n`,
    );
    print(table(before, after, seconds));
    await endProcess(assay.process);
  } finally {
    dataDir.remove();
  }
}
