/** Jobs in children: one job in one child, or a batch in as few as it takes. */

import { describeError } from '#core/contracts/errors.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import type { Child, Reply } from './child.ts';
import {
  failureOfExit,
  isFailure,
  noResult,
  type PythonFailure,
  readReply,
  sandboxUnavailable,
} from './failure.ts';
import type { Job, TextPair } from './frame.ts';
import type { PythonLimits } from './limits.ts';
import type { Pool } from './pool.ts';

export type Result = (PythonFailure | { score: number; traces: string }) & {
  /** From sending the job to its end. */
  durationMs: number;
};

/** How long the zygote may take to tell how a killed child ended. */
const EXIT_MS = 2_000;
/** How long a child that closed its connection at its deadline may take to end, should that be what it is doing. */
const ENDING_MS = 100;
const SIGKILL = 9;

/** What became of a child that has not answered and may run for `leftMs` more. It is gone afterwards. */
async function failureOf(
  child: Child,
  kind: Exclude<Reply['kind'], 'answer'>,
  limits: PythonLimits,
  leftMs: number,
): Promise<PythonFailure> {
  // One that has closed its connection is ending, as a rule. How long that takes is up to the machine.
  const endsItself = kind === 'silent' && (await settlesWithin(child.exited, Math.max(leftMs, ENDING_MS)));
  if (!endsItself) child.kill();
  if (!(await settlesWithin(child.exited, EXIT_MS))) {
    child.condemn();
    return failureOfExit(kind, null, limits);
  }
  const exit = await child.exited;
  // It has gone on without a connection, unless its end came just before it was killed.
  const wasKilled = kind === 'silent' && !endsItself && exit?.signal === SIGKILL;
  return wasKilled ? noResult() : failureOfExit(kind, exit, limits);
}

async function takeChild(pool: Pool, limits: PythonLimits): Promise<Child | PythonFailure> {
  try {
    return await pool.take(limits);
  } catch (error) {
    return sandboxUnavailable(`The sandbox has no place for the code: ${describeError(error)}`);
  }
}

/** Asks and reads what comes. A child that does not answer is gone afterwards. */
async function exchange(
  child: Child,
  frame: Job | TextPair,
  options: { limits: PythonLimits; wanted: 'loaded' | 'score'; isLast: boolean },
): Promise<PythonFailure | { score: number; traces: string }> {
  const { limits, wanted, isLast } = options;
  const deadline = performance.now() + limits.wallMs;
  const reply = await child.ask(frame, { wallMs: limits.wallMs, isLast });
  if (reply.kind === 'answer') return readReply(reply, wanted);
  return failureOf(child, reply.kind, limits, deadline - performance.now());
}

/** Runs one job in a child of its own. */
export async function runOne(
  pool: Pool,
  job: Extract<Job, { task: 'compile' | 'evaluate' }>,
  limits: PythonLimits,
  clock: Clock,
): Promise<Result> {
  const child = await takeChild(pool, limits);
  const startedAt = clock.monotonic();
  if ('code' in child) return { ...child, durationMs: 0 };
  const wanted = job.task === 'compile' ? 'loaded' : 'score';
  const result = await exchange(child, job, { limits, wanted, isLast: true });
  return { ...result, durationMs: clock.monotonic() - startedAt };
}

/** What ends a child, so that the next record needs another. */
const isFatal = (result: PythonFailure | { score: number }) =>
  isFailure(result) && !['py_exception', 'py_bad_return_type', 'py_not_finite'].includes(result.code);

/**
 * Runs records of the same code one after another in one child. A record that ends the child is tried once more as the
 * first of the next child, unless it was the first: what it died of may be what the records before it had used up. So
 * each record fails with what it would have failed with alone.
 */
export async function runMany(
  pool: Pool,
  job: { code: string; records: readonly TextPair[] },
  limits: PythonLimits,
  clock: Clock,
): Promise<Result[]> {
  const results: Result[] = [];
  while (results.length < job.records.length) {
    const child = await takeChild(pool, limits);
    if ('code' in child) {
      // Nothing will change that soon: all that is left fails alike.
      results.push(...job.records.slice(results.length).map(() => ({ ...child, durationMs: 0 })));
      return results;
    }
    await fillFrom(child, job, limits, clock, results);
  }
  return results;
}

/** Adds the results of as many records as this child takes: at least one. */
async function fillFrom(
  child: Child,
  job: { code: string; records: readonly TextPair[] },
  limits: PythonLimits,
  clock: Clock,
  results: Result[],
): Promise<void> {
  const first = results.length;
  let startedAt = clock.monotonic();
  const loaded = await exchange(
    child,
    { task: 'many', code: job.code },
    { limits, wanted: 'loaded', isLast: false },
  );
  if (isFailure(loaded)) {
    child.kill();
    results.push({ ...loaded, durationMs: clock.monotonic() - startedAt });
    return;
  }
  for (const record of job.records.slice(first)) {
    const result = await exchange(child, record, { limits, wanted: 'score', isLast: false });
    const isSpent = isFatal(result);
    if (!isSpent || results.length === first) {
      results.push({ ...result, durationMs: clock.monotonic() - startedAt });
      startedAt = clock.monotonic();
    }
    if (isSpent) break;
  }
  child.kill();
}
