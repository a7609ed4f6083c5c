/**
 * `npm run bench gateway`: what this gateway adds to a call, beside the provider alone and a peer, in interleaved
 * rounds of one run. Provider and load generator are processes of their own; where the system can pin, the measured
 * gateway has a core to itself and everything else shares the others, this gateway's ingest and Postgres included.
 */
import { Command, InvalidArgumentError } from 'commander';
import {
  type Extent,
  type Figures,
  type LoadGenerator,
  measure,
  type Scenario,
  startLoadGenerator,
} from './gateway/measure.ts';
import { measureMemory } from './gateway/memory.ts';
import { pin } from './gateway/process.ts';
import { type Results, report } from './gateway/report.ts';
import { TARGET_NAMES, type Target, type TargetName } from './gateway/target.ts';
import { startProvider, startTarget } from './gateway/targets.ts';
import { describeMachine } from './machine.ts';
import { positiveNumber } from './options.ts';

const KIB = 1_024;
const SCENARIOS: readonly Scenario[] = [
  { name: '1 KB, 1 connection', bytes: KIB, stream: false, connections: 1 },
  { name: '1 KB, 16 connections', bytes: KIB, stream: false, connections: 16 },
  // With 16, a gateway of 75 µs a call waits for its callers part of the time; with 64 its core is busy.
  { name: '1 KB, 64 connections', bytes: KIB, stream: false, connections: 64 },
  { name: '50 KB, 1 connection', bytes: 50 * KIB, stream: false, connections: 1 },
  { name: '50 KB, 16 connections', bytes: 50 * KIB, stream: false, connections: 16 },
  { name: 'stream, 1 connection', bytes: KIB, stream: true, connections: 1 },
  { name: 'stream, 16 connections', bytes: KIB, stream: true, connections: 16 },
];
/** Before the first measurement, for each scenario: the compiler must have seen the hot path. */
const WARM_UP_SECONDS = 2;
const WARM_UP_CONNECTIONS = 16;

type Options = { seconds: number; rounds: number; only?: TargetName[]; memory: boolean; json: boolean };

function targetNames(text: string): TargetName[] {
  return text.split(',').map((name) => {
    const known = TARGET_NAMES.find((target) => target === name.trim());
    if (known === undefined) throw new InvalidArgumentError(`It must be some of ${TARGET_NAMES.join(',')}.`);
    return known;
  });
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench gateway')
    .description('What the gateway adds to a call: latency, throughput, CPU, memory')
    .option('--seconds <number>', 'length of one measurement', positiveNumber, 3)
    .option('--rounds <number>', 'interleaved rounds; the medians are shown', positiveNumber, 3)
    .option('--only <targets>', `some of ${TARGET_NAMES.join(',')}`, targetNames)
    .option('--memory', 'instead: resident memory over 100,000 calls', false)
    .option('--json', 'print every figure as JSON', false)
    .parse(args, { from: 'user' });
  const options = command.opts<Options>();
  // What this process starts stays where it is; only the measured gateways are moved.
  pin(process.pid, 'others');
  const load = startLoadGenerator();
  try {
    if (options.memory) await measureMemory(load, options);
    else await measureAll(load, options);
  } finally {
    await load.stop();
  }
}

async function measureAll(load: LoadGenerator, options: Options): Promise<void> {
  const results: Results = { machine: describeMachine(), figures: {}, settled: [] };
  for (const bytes of new Set(SCENARIOS.map((scenario) => scenario.bytes))) {
    const scenarios = SCENARIOS.filter((scenario) => scenario.bytes === bytes);
    const provider = await startProvider(bytes);
    const targets: Target[] = [];
    try {
      for (const name of options.only ?? TARGET_NAMES) targets.push(await startTarget(name, provider));
      await measureScenarios(load, targets, scenarios, options, results);
    } finally {
      for (const target of targets) await target.stop();
      await provider.stop();
    }
  }
  process.stdout.write(options.json ? `${JSON.stringify(results, null, 2)}\n` : report(results));
}

async function measureScenarios(
  load: LoadGenerator,
  targets: readonly Target[],
  scenarios: readonly Scenario[],
  options: Options,
  results: Results,
): Promise<void> {
  const made = new Map<Target, number>();
  const runOne = async (target: Target, scenario: Scenario, extent: Extent): Promise<Figures> => {
    const figures = await measure(load, target, scenario, extent);
    made.set(target, (made.get(target) ?? 0) + figures.calls);
    const settled = await target.settle(made.get(target)!);
    if (settled !== null) {
      const calls = made.get(target)!;
      results.settled.push({ scenario: scenario.name, calls, made: figures.calls, ...settled });
    }
    return figures;
  };
  for (const target of targets) {
    for (const scenario of scenarios) {
      const seconds = WARM_UP_SECONDS;
      await runOne(target, { ...scenario, connections: WARM_UP_CONNECTIONS }, { seconds });
    }
  }
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const scenario of scenarios) {
      for (const target of targets) {
        process.stderr.write(`round ${round} of ${options.rounds}: ${scenario.name}, ${target.name}\n`);
        const figures = await runOne(target, scenario, { seconds: options.seconds });
        results.figures[scenario.name] ??= {};
        const ofScenario = results.figures[scenario.name]!;
        ofScenario[target.name] = [...(ofScenario[target.name] ?? []), figures];
      }
    }
  }
}
