/** Starts the sandbox in the best tier that this machine can run. */
import { existsSync } from 'node:fs';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Clock } from '#platform/process/clock.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { ChildPool } from './pool.ts';
import { toOutcome } from './result.ts';
import { runMany, runOne } from './run.ts';
import { noSandbox, PooledSandbox, type Sandbox } from './sandbox.ts';
import { findEscape } from './self-test.ts';
import { SANDBOX_TIERS, type SandboxTier } from './zygote.ts';

/** Options of `startSandbox`. */
export type SandboxOptions = {
  /** The directory in which a private directory (0700) for the socket is made. */
  directory: string;
  /** Path of the Python to run; default: the system's. */
  python?: string;
  /** Evaluations that run at once. Twice as many children wait for a job. */
  concurrency: number;
  log: Logger;
  clock: Clock;
  /** The only tier to try, instead of the best. */
  wantedTier?: SandboxTier;
  /** Number of forks after which a zygote is replaced. */
  forksPerZygote?: number;
  /** Time without a job after which the sandbox keeps no process, in milliseconds. */
  restAfterMs?: number;
};

const SYSTEM_PYTHON = '/usr/bin/python3';

type UsableTier = Exclude<SandboxTier, 'none'>;

/** Returns the tiers to try, and the reasons against the others. */
function tiersToTry(wanted: SandboxTier | undefined): { tiers: UsableTier[]; why: string[] } {
  if (process.platform !== 'linux') return { tiers: [], why: [`it needs Linux, not ${process.platform}`] };
  if (wanted === 'none') return { tiers: [], why: ['the tier "none" is set'] };
  if (wanted !== undefined) return { tiers: [wanted], why: [] };
  const isRoot = process.getuid?.() === 0;
  const tiers = SANDBOX_TIERS.filter(
    (tier): tier is UsableTier => tier !== 'none' && (tier !== 'chroot' || isRoot),
  );
  return { tiers, why: isRoot ? [] : ['chroot: it needs root'] };
}

async function openTested(tier: UsableTier, options: SandboxOptions): Promise<ChildPool> {
  const { directory, log, clock, concurrency, forksPerZygote, restAfterMs } = options;
  const python = options.python ?? (existsSync(SYSTEM_PYTHON) ? SYSTEM_PYTHON : 'python3');
  // Twice as many children as slots wait, so that jobs find one ready while those just taken are replaced.
  const idle = 2 * concurrency;
  const pool = await ChildPool.open({ tier, python, directory, log, forksPerZygote, restAfterMs, idle });
  const escaped = await findEscape({
    alone: async (code, record) =>
      toOutcome(await runOne(pool, { code, labels: false, ...record }, DEFAULT_LIMITS, clock), null),
    many: async (code, records) => {
      const results = await runMany(pool, { code, labels: false, records }, DEFAULT_LIMITS, clock);
      return results.map((result) => toOutcome(result, null));
    },
  });
  if (escaped === null) return pool;
  await pool.close();
  throw new Error(escaped);
}

/**
 * Starts the sandbox in the best tier that starts and passes its self-test. Without such a tier it resolves to tier `none`,
 * in which everything fails with sandbox_unavailable. It must be called in the main thread: the kernel kills the zygote
 * when the thread that started it ends.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { tiers, why } = tiersToTry(options.wantedTier);
  for (const tier of tiers) {
    try {
      const pool = await openTested(tier, options);
      return new PooledSandbox(pool, {
        tier,
        why: why.length === 0 ? null : why.join('; '),
        concurrency: options.concurrency,
        clock: options.clock,
      });
    } catch (error) {
      why.push(`${tier}: ${describeError(error)}`);
      options.log.warn({ tier, why: describeError(error) }, 'this tier of the Python sandbox cannot be used');
    }
  }
  return noSandbox(why.join('; '));
}
