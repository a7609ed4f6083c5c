/**
 * Runs all programs in one tier and writes their endings as JSON. It can also be run as a process of its own, so that a test
 * that runs as root can run it as another user.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from '#core/scoring/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { DEFAULT_LIMITS, startSandbox } from '../../../../../evaluators/python/mod.ts';
import type { SandboxTier } from '../../../../../evaluators/python/zygote.ts';
import { PROGRAMS } from './programs.ts';

export type Ending = { name: string; outcome: Outcome; durationMs: number };
export type Endings = {
  tier: SandboxTier;
  why: string | null;
  deaths: number;
  endings: Ending[];
  afterwards: Outcome;
};

/** Low limits, which stop slow programs soon. */
export const SLOW_LIMITS = { ...DEFAULT_LIMITS, wallMs: 250 };
/** What a program does that no limit of time ends must not depend on how busy the machine is. */
const PATIENT_LIMITS = { ...DEFAULT_LIMITS, wallMs: 20_000, cpuSeconds: 10 };
const IN_PARALLEL = 3;

/** Runs the programs in the sandbox, or in one that a test has changed. */
export async function runPrograms(tier: SandboxTier, start = startSandbox): Promise<Endings> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-test-python-'));
  const log = createLogger({ role: 'test', level: 'fatal' });
  const sandbox = await start({
    directory,
    log,
    clock: systemClock,
    concurrency: IN_PARALLEL,
    wantedTier: tier,
  });
  const run = async (name: string, code: string, isSlow: boolean): Promise<Ending> => {
    const limits = isSlow ? SLOW_LIMITS : PATIENT_LIMITS;
    const { outcome, durationMs } = await sandbox.evaluate({
      code,
      input: 'input',
      output: 'output',
      limits,
    });
    return { name, outcome, durationMs };
  };
  try {
    const endings = await Promise.all(
      PROGRAMS.map(({ name, code, isSlow = false }) => run(name, code, isSlow)),
    );
    const { outcome: afterwards } = await run('', 'def evaluate(input, output):\n    return 0.5', false);
    return { tier: sandbox.tier, why: sandbox.why, deaths: sandbox.state().deaths, endings, afterwards };
  } finally {
    await sandbox.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  process.stdout.write(JSON.stringify(await runPrograms(process.argv[2] as SandboxTier)));
}
