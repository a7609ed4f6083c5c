/**
 * `npm run bench evaluators`: isolated Python evaluations a second in the sandbox, at several depths, beside the bare
 * zygote (a fork for each evaluation and a pipe, nothing locked, no Node), a cold `python3 -I -S` for each, bare and with
 * the modules loaded that evaluators can import, and the sandbox's batches: by turns in the same run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { MAX_BATCH, type Sandbox, startSandbox } from '../../evaluators/python/mod.ts';
import { IMPORTABLE_MODULES } from '../../evaluators/python/modules.ts';
import { SANDBOX_TIERS, type SandboxTier } from '../../evaluators/python/zygote.ts';
import { familyCpuSeconds } from './evaluators/family-cpu.ts';
import { describeMachine } from './machine.ts';
import { formatTable, median, percentile } from './table.ts';

const DEPTHS = [1, 4, 8];
/** A usual load, and what is asked of two cores. */
const RATES = [100, 300];
const CONCURRENCY_AT_RATE = 4;
const PYTHON = '/usr/bin/python3';
const BARE = fileURLToPath(new URL('./evaluators/bare-zygote.py', import.meta.url));
const CODE = 'import re\ndef evaluate(input, output):\n    return 1 if re.search("yes", output) else 0.25\n';
const INPUT = 'Is the sky blue?';
const OUTPUT = 'yes '.repeat(50);

const RATIO_HEAD = [
  'depth',
  'sandbox : bare',
  'CPU',
  'cold : sandbox',
  'CPU',
  'cold with modules : sandbox',
  'CPU',
];

type Figures = { perSecond: number; p50Ms: number; p99Ms: number; cpuMs: number };

/** The milliseconds that `work` takes. */
const timed = (work: () => Promise<void>) => async () => {
  const before = performance.now();
  await work();
  return performance.now() - before;
};

/** Runs `evaluate` over and over, `depth` at a time; it returns its latency in milliseconds. */
async function measure(seconds: number, depth: number, evaluate: () => Promise<number>): Promise<Figures> {
  for (let warmUp = 0; warmUp < 20; warmUp += 1) await evaluate();
  const latencies: number[] = [];
  const cpuBefore = familyCpuSeconds(process.pid);
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  const loop = async () => {
    while (performance.now() < endsAt) {
      latencies.push(await evaluate());
    }
  };
  await Promise.all(Array.from({ length: depth }, loop));
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  const cpuSeconds = familyCpuSeconds(process.pid) - cpuBefore;
  const sorted = latencies.toSorted((a, b) => a - b);
  return {
    perSecond: sorted.length / elapsedSeconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    cpuMs: (cpuSeconds / sorted.length) * 1_000,
  };
}

async function withSandbox<T>(
  tier: SandboxTier,
  depth: number,
  work: (sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-bench-'));
  const log = createLogger({ role: 'bench', level: 'error' });
  const sandbox = await startSandbox({
    directory,
    log,
    clock: systemClock,
    concurrency: depth,
    wantedTier: tier,
  });
  try {
    return await work(sandbox);
  } finally {
    await sandbox.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

const measureSandbox = (tier: SandboxTier, seconds: number, depth: number): Promise<Figures> =>
  withSandbox(tier, depth, (sandbox) =>
    measure(
      seconds,
      depth,
      timed(async () => {
        const { outcome } = await sandbox.evaluate({ code: CODE, input: INPUT, output: OUTPUT });
        if (outcome.state !== 'completed' || outcome.score !== 1) throw new Error(JSON.stringify(outcome));
      }),
    ),
  );

/** As they come in, evenly: what one waits when the sandbox is not saturated. */
const measureAtRate = (tier: SandboxTier, seconds: number, perSecond: number): Promise<Figures> =>
  withSandbox(tier, CONCURRENCY_AT_RATE, (sandbox) => {
    const startedAt = performance.now();
    let number = 0;
    // One that is late starts at once: its wait since it was due counts.
    return measure(seconds, 3 * CONCURRENCY_AT_RATE, async () => {
      const dueAt = startedAt + (number * 1_000) / perSecond;
      number += 1;
      await sleep(Math.max(0, dueAt - performance.now()));
      const before = Math.min(dueAt, performance.now());
      const { outcome } = await sandbox.evaluate({ code: CODE, input: INPUT, output: OUTPUT });
      if (outcome.state !== 'completed') throw new Error(JSON.stringify(outcome));
      return performance.now() - before;
    });
  });

/** Per record, in batches: the latencies are those of a whole batch. */
async function measureBatches(tier: SandboxTier, seconds: number, depth: number): Promise<Figures> {
  const records = Array.from({ length: MAX_BATCH }, () => ({ input: INPUT, output: OUTPUT }));
  const figures = await withSandbox(tier, depth, (sandbox) =>
    measure(
      seconds,
      depth,
      timed(async () => {
        const results = await sandbox.evaluateMany({ code: CODE, records });
        if (results.some(({ outcome }) => outcome.state !== 'completed')) throw new Error('A record failed');
      }),
    ),
  );
  return { ...figures, perSecond: figures.perSecond * MAX_BATCH, cpuMs: figures.cpuMs / MAX_BATCH };
}

/** `depth` evaluations at a time in children of one parent that has everything loaded. It measures itself. */
async function measureBareZygote(seconds: number, depth: number): Promise<Figures> {
  const bare = spawn(PYTHON, ['-I', '-S', '-B', BARE, String(seconds), String(depth)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  bare.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await once(bare, 'close');
  return JSON.parse(said) as Figures;
}

async function measureCold(seconds: number, depth: number, modules: readonly string[]): Promise<Figures> {
  const program = `${modules.map((name) => `import ${name}\n`).join('')}${CODE}import sys\nprint(evaluate(*sys.argv[1:]))\n`;
  return measure(
    seconds,
    depth,
    timed(async () => {
      const python = spawn(PYTHON, ['-I', '-S', '-c', program, INPUT, OUTPUT], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      python.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      await once(python, 'close');
      if (said !== '1\n') throw new Error(`A cold Python said ${said}`);
    }),
  );
}

const NAMES = {
  sandbox: 'sandbox',
  bare: 'bare zygote',
  cold: 'cold python3 -I -S',
  coldWithModules: 'cold, with the modules',
  batches: `batches of ${MAX_BATCH}, a record`,
} as const;
type Way = keyof typeof NAMES;

const WAYS: Record<Way, (tier: SandboxTier, seconds: number, depth: number) => Promise<Figures>> = {
  sandbox: measureSandbox,
  bare: (_tier, seconds, depth) => measureBareZygote(seconds, depth),
  cold: (_tier, seconds, depth) => measureCold(seconds, depth, []),
  coldWithModules: (_tier, seconds, depth) => measureCold(seconds, depth, IMPORTABLE_MODULES),
  batches: measureBatches,
};

/** Figure by figure: what else the machine does in one round spoils that round only. */
const medianOf = (rounds: readonly Figures[]): Figures => ({
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
  cpuMs: median(rounds.map(({ cpuMs }) => cpuMs)),
});

/** All ways by turns, `rounds` times. */
async function measureAll(tier: SandboxTier, seconds: number, depth: number, rounds: number) {
  const ways = Object.keys(WAYS) as Way[];
  const measured = new Map<Way, Figures[]>(ways.map((way) => [way, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const way of ways) measured.get(way)!.push(await WAYS[way](tier, seconds, depth));
  }
  return Object.fromEntries(ways.map((way) => [way, medianOf(measured.get(way)!)])) as Record<Way, Figures>;
}

const row = (what: string, depth: number, { perSecond, p50Ms, p99Ms, cpuMs }: Figures) => [
  what,
  String(depth),
  perSecond.toFixed(0),
  p50Ms.toFixed(2),
  p99Ms.toFixed(2),
  cpuMs.toFixed(2),
];

/** How the sandbox compares, in time (of the whole, so of both cores) and in CPU. */
function ratios(depth: number, { sandbox, bare, cold, coldWithModules }: Record<Way, Figures>): string[] {
  const times = (a: Figures, b: Figures) => [
    `${(b.perSecond / a.perSecond).toFixed(1)} x`,
    `${(a.cpuMs / b.cpuMs).toFixed(1)} x`,
  ];
  return [
    String(depth),
    ...times(sandbox, bare),
    ...times(cold, sandbox),
    ...times(coldWithModules, sandbox),
  ];
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench evaluators')
    .description('Isolated Python evaluations a second')
    .option('--seconds <number>', 'length of each measurement', Number, 2)
    .option('--rounds <number>', 'how often each is measured, by turns; the medians are told', Number, 3)
    .option(
      '--tier <tier>',
      `one of ${SANDBOX_TIERS.join(', ')}`,
      process.getuid?.() === 0 ? 'chroot' : 'namespaces',
    )
    .parse(args, { from: 'user' });
  const { seconds, rounds, tier } = command.opts<{ seconds: number; rounds: number; tier: SandboxTier }>();
  const rows: string[][] = [['', 'depth', 'per second', 'p50 ms', 'p99 ms', 'CPU ms each']];
  const compared: string[][] = [RATIO_HEAD];
  for (const depth of DEPTHS) {
    process.stderr.write(`depth ${depth}, for ${rounds * Object.keys(WAYS).length * seconds} s\n`);
    const figures = await measureAll(tier, seconds, depth, rounds);
    for (const way of Object.keys(WAYS) as Way[]) rows.push(row(NAMES[way], depth, figures[way]));
    compared.push(ratios(depth, figures));
  }
  for (const rate of RATES) {
    process.stderr.write(`${rate} a second, for ${rounds * seconds} s\n`);
    const figures = await measureAtRate(tier, rounds * seconds, rate);
    rows.push(row(`sandbox, at ${rate}/s`, CONCURRENCY_AT_RATE, figures));
  }
  process.stdout.write(`\n${describeMachine()}, tier ${tier}\n\n${formatTable(rows)}\n`);
  process.stdout.write(`\nHow many times as much, of time and of CPU:\n\n${formatTable(compared)}\n`);
}
