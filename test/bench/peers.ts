/**
 * `npm run bench peers`: this gateway beside others, in interleaved rounds of one run. Load generator and provider are compiled,
 * so that neither is the limit. The measured gateway has a core to itself where the system can pin; everything else shares the
 * others, this gateway's ingest and PostgreSQL included. Without pinning, contention with the own processes shows. Linux only.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { describePinning, leaveUnpinned, pin } from './gateway/process.ts';
import { describeMachine } from './machine.ts';
import { positiveNumber, wholeNumber } from './options.ts';
import { compilePrograms } from './peers/compile.ts';
import { HELP } from './peers/help.ts';
import { bareNode, nginx, portkey } from './peers/known-peers.ts';
import { litellm, litellmIsInstalled } from './peers/litellm.ts';
import { measure, type Tools } from './peers/measure.ts';
import { readPeers } from './peers/peer.ts';
import { startNativeProvider } from './peers/provider.ts';
import { type Results, report } from './peers/report.ts';
import { chooseScenarios, type Scenario } from './peers/scenario.ts';
import { direct, ours, peerTarget, type StartTarget, type Target } from './peers/target.ts';
import { print } from './table.ts';

type Options = {
  seconds: number;
  rounds: number;
  only?: string[];
  scenarios?: string[];
  before?: string;
  peers?: string;
  litellm: boolean;
  pin: boolean;
  json: boolean;
};

/**
 * For each kind of scenario before the first measurement, at most: V8 compiles the hot path for some seconds, its threads took 24 % of
 * the gateway's processor time after 4 s of calls and 6 % after 13. Small bodies run the most of it; large ones for so long would
 * leave bodies to be compressed during the first measurements.
 */
const WARM_UP_SECONDS = { small: 8, other: 2 };
const SMALL_BYTES = 1_024;
const WARM_UP_CONNECTIONS = 16;
/** Beside two descriptors for each connection: those of files and of other processes. */
const OTHER_FILES = 200;

/** Splits an option at commas that no space follows: names of scenarios have commas too. */
function list(text: string): string[] {
  return text.split(/,(?! )/).map((name) => name.trim());
}

/** Says what is to be done when a process may not have two descriptors for each connection of a scenario. */
function checkFileLimit(scenarios: readonly Scenario[]): void {
  // Every process raises its soft limit to the hard one: Node at its start, and what it starts inherits that.
  const limit = execFileSync('/bin/sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  const needed = 2 * Math.max(...scenarios.map(({ connections }) => connections)) + OTHER_FILES;
  if (limit === 'unlimited' || Number(limit) >= needed) return;
  throw new Error(
    `A process may have ${limit} files open here, and ${needed} are needed: run this as \`sudo prlimit --nofile=${needed}:${needed} npm run bench peers\`, or choose other --scenarios`,
  );
}

/** Returns how to start each target that is there, by name, in the order of the report. */
function findTargets(options: Options, provider: string): Map<string, StartTarget> {
  const peers = [
    nginx(),
    bareNode(),
    portkey(),
    options.litellm || litellmIsInstalled() ? litellm() : null,
    ...(options.peers === undefined ? [] : readPeers(options.peers)),
  ].filter((peer) => peer !== null);
  const found: [string, StartTarget][] = [
    ['direct', direct(provider)],
    ['ours', ours('ours')],
    ...(options.before === undefined
      ? []
      : [['before', ours('before', resolve(options.before))] satisfies [string, StartTarget]]),
    ...peers.map((peer): [string, StartTarget] => [peer.name, peerTarget(peer)]),
  ];
  const named = new Map(found);
  if (named.size < found.length) throw new Error('Two targets have the same name');
  if (options.only === undefined) return named;
  for (const name of options.only) {
    if (!named.has(name))
      throw new Error(`No target is "${name}": there are ${[...named.keys()].join(', ')}`);
  }
  return new Map(found.filter(([name]) => options.only!.includes(name)));
}

/** Runs a scenario on a target, from where its log was left. */
type Measure = (target: Target, scenario: Scenario, seconds: number) => ReturnType<typeof measure>;

function createMeasure(tools: Tools): Measure {
  const records = new Map<Target, number>();
  return async (target, scenario, seconds) => {
    const figures = await measure(tools, target, scenario, seconds, records.get(target) ?? 0);
    if (figures.settled !== null) records.set(target, figures.settled.records);
    return figures;
  };
}

function warmUpSeconds({ bytes, pace }: Scenario, seconds: number): number {
  return bytes <= SMALL_BYTES && pace === null
    ? Math.min(4 * seconds, WARM_UP_SECONDS.small)
    : Math.min(seconds, WARM_UP_SECONDS.other);
}

async function warmUp(
  run: Measure,
  targets: readonly Target[],
  scenarios: readonly Scenario[],
  seconds: number,
) {
  // Scenarios that differ in connections only take the same path.
  const kinds = new Map(
    scenarios.map((scenario) => [`${scenario.bytes} ${scenario.pace === null}`, scenario]),
  );
  for (const target of targets) {
    process.stderr.write(`warm-up: ${target.name}\n`);
    for (const scenario of kinds.values()) {
      await run(target, { ...scenario, connections: WARM_UP_CONNECTIONS }, warmUpSeconds(scenario, seconds));
    }
  }
}

/** Measures scenario by scenario, every target in turn; another one begins in each round. */
async function measureAll(
  run: Measure,
  targets: readonly Target[],
  scenarios: readonly Scenario[],
  { seconds, rounds }: Options,
): Promise<Results['scenarios']> {
  const results: Results['scenarios'] = scenarios.map((scenario) => ({
    scenario,
    figures: Object.fromEntries(targets.map(({ name }) => [name, []])),
  }));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % targets.length;
    const order = [...targets.slice(first), ...targets.slice(0, first)];
    for (const { scenario, figures } of results) {
      for (const target of order) {
        process.stderr.write(`round ${round + 1} of ${rounds}: ${scenario.name}, ${target.name}\n`);
        figures[target.name]!.push(await run(target, scenario, seconds));
      }
    }
  }
  return results;
}

/** Starts everything in a temporary directory, measures, and stops it. */
async function compare(directory: string, options: Options): Promise<Omit<Results, 'command'>> {
  const scenarios = chooseScenarios(options.scenarios);
  checkFileLimit(scenarios);
  const programs = compilePrograms(directory);
  const starts = findTargets(options, programs.provider);
  const provider = await startNativeProvider(programs.provider);
  const targets: Target[] = [];
  try {
    for (const [name, start] of starts) {
      process.stderr.write(`starting ${name}\n`);
      targets.push(await start(provider.port));
    }
    const run = createMeasure({ load: programs.load, directory });
    await warmUp(run, targets, scenarios, options.seconds);
    return {
      machine: describeMachine(),
      pinning: describePinning(),
      rounds: options.rounds,
      seconds: options.seconds,
      targets: targets.map(({ name, version, logs }) => ({ name, version, logs })),
      scenarios: await measureAll(run, targets, scenarios, options),
    };
  } finally {
    for (const target of targets) await target.stop();
    await provider.stop();
  }
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const options = new Command('bench peers')
    .description('This gateway beside others: calls a second, latency, CPU and memory; Markdown')
    .option('--seconds <number>', 'length of one measurement', positiveNumber, 3)
    .option('--rounds <number>', 'interleaved rounds', wholeNumber, 3)
    .option('--only <targets>', 'names of targets, with commas between', list)
    .option('--scenarios <list>', 'numbers, or parts of names, with commas between', list)
    .option('--before <directory>', 'measure this other version of the repository too, as "before"')
    .option('--peers <file.json>', 'measure the peers that the file describes too')
    .option('--litellm', 'install LiteLLM when it is missing (several hundred megabytes)', false)
    .option('--no-pin', 'leave everything on all cores, as `npm start` does')
    .option('--json', 'print every figure of every round as JSON', false)
    .addHelpText('after', HELP)
    .parse(args, { from: 'user' })
    .opts<Options>();
  if (!options.pin) leaveUnpinned();
  // What this process starts stays where it is; only the measured gateways are moved.
  pin(process.pid, 'others');
  const directory = mkdtempSync(join(tmpdir(), 'assay-bench-peers-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  // What it has started ends with this process, however that ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  try {
    const command = ['npm run bench peers', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
    const results: Results = { command, ...(await compare(directory, options)) };
    print(options.json ? JSON.stringify(results, null, 2) : report(results));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
