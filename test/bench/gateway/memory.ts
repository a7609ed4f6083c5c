/** `npm run bench gateway -- --memory`: resident memory of the gateway process over 100,000 calls. */
import { describeMachine } from '../machine.ts';
import { formatTable } from '../table.ts';
import { type LoadGenerator, measure, type Scenario } from './measure.ts';
import { residentBytes } from './process.ts';
import type { TargetName } from './target.ts';
import { type Provider, startProvider, startTarget } from './targets.ts';

const CALLS = 100_000;
const STEPS = 10;
const SCENARIO: Scenario = { name: '1 KB', bytes: 1_024, stream: false, connections: 16 };
const MIB = 1_048_576;

type MemoryOptions = { only?: TargetName[]; json: boolean };

/** Resident MiB at the start and after every 10,000 calls. */
async function sample(load: LoadGenerator, name: TargetName, provider: Provider): Promise<number[]> {
  const target = await startTarget(name, provider);
  try {
    if (target.pid === null) return [];
    const samples = [residentBytes(target.pid) / MIB];
    for (let step = 1; step <= STEPS; step += 1) {
      const figures = await measure(load, target, SCENARIO, { calls: CALLS / STEPS });
      if (figures.failures > 0) throw new Error(`${name}: ${figures.failure}`);
      samples.push(residentBytes(target.pid) / MIB);
      process.stderr.write(`${name}: ${step * (CALLS / STEPS)} calls, ${samples.at(-1)!.toFixed(0)} MiB\n`);
    }
    await target.settle(CALLS);
    return samples;
  } finally {
    await target.stop();
  }
}

/** Measures and prints. */
export async function measureMemory(load: LoadGenerator, options: MemoryOptions): Promise<void> {
  const provider = await startProvider(SCENARIO.bytes);
  const found: Record<string, number[]> = {};
  try {
    for (const name of options.only ?? (['ours', 'peer'] as const)) {
      if (name !== 'direct') found[name] = await sample(load, name, provider);
    }
  } finally {
    await provider.stop();
  }
  const machine = describeMachine();
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ machine, residentMiB: found }, null, 2)}\n`);
    return;
  }
  const names = Object.keys(found);
  const rows = Array.from({ length: STEPS + 1 }, (_, step) => [
    String(step * (CALLS / STEPS)),
    ...names.map((name) => found[name]![step]!.toFixed(0)),
  ]);
  const table = formatTable([['calls', ...names.map((name) => `${name}, MiB`)], ...rows]);
  process.stdout.write(
    `\n${machine}\nResident memory of the gateway process, 1 KB calls at 16 connections\n\n${table}\n`,
  );
}
