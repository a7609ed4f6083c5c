/** Runs jobs in children: one job in one child, or a batch in as few children as it takes. */

import { describeError } from '#core/contracts/errors.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import type { Child, ChildReply } from './child.ts';
import {
  failureOfExit,
  noResult,
  type PythonFailure,
  recordTooLarge,
  sandboxUnavailable,
} from './failure.ts';
import { encodeFrame, encodeRecord, type PythonRecord, type WholeRecord } from './frame.ts';
import { MAX_RECORD_BYTES, type PythonLimits } from './limits.ts';
import type { ChildPool } from './pool.ts';
import { isFailure, type Loaded, type PythonScore, readLoaded, readScore } from './result.ts';

/** A score or a failure, with its duration. */
export type TimedResult = (PythonFailure | PythonScore) & Timed;
/** Milliseconds from sending the job to its end. */
type Timed = { durationMs: number };

/** Maximum time for the zygote to report the end of a killed child. */
const EXIT_MS = 2_000;
/** Minimum time for a child that has closed its connection to end, even at its deadline. */
const ENDING_MS = 100;
const SIGKILL = 9;

/** Returns the failure of a child that has not answered and may run for another `leftMs`. The child is gone afterwards. */
async function failureOfUnanswered(
  child: Child,
  kind: Exclude<ChildReply['kind'], 'answer'>,
  limits: PythonLimits,
  leftMs: number,
): Promise<PythonFailure> {
  // A child that has closed its connection is usually ending; the time for that depends on the machine.
  const endsItself = kind === 'closed' && (await settlesWithin(child.exited, Math.max(leftMs, ENDING_MS)));
  if (!endsItself) child.kill();
  if (!(await settlesWithin(child.exited, EXIT_MS))) {
    child.killZygote();
    return failureOfExit(kind, null, limits);
  }
  const exit = await child.exited;
  // The child ran on without a connection, unless it ended just before it was killed.
  const wasKilled = kind === 'closed' && !endsItself && exit?.signal === SIGKILL;
  return wasKilled ? noResult() : failureOfExit(kind, exit, limits);
}

async function acquireChild(pool: ChildPool, limits: PythonLimits): Promise<Child | PythonFailure> {
  try {
    return await pool.acquire(limits);
  } catch (error) {
    return sandboxUnavailable(`The sandbox has no place for the code: ${describeError(error)}`);
  }
}

type AnswerReply = Extract<ChildReply, { kind: 'answer' }>;
type EvaluateJob = { code: string; labels: boolean } & PythonRecord;

const NO_RECORD: WholeRecord = { requestText: 'null', responseText: 'null', inputs: '{}' };

/** Returns the frame of the whole record, or the failure of a record that is too large for one. */
function recordFrame(record: WholeRecord = NO_RECORD): Buffer | PythonFailure {
  const frame = encodeRecord(record);
  return frame.length > MAX_RECORD_BYTES ? recordTooLarge(frame.length) : frame;
}

/** Sends a frame and reads the answer, until the deadline. A child that does not answer is gone afterwards. */
async function exchange<Result>(
  child: Child,
  frame: Buffer,
  options: {
    limits: PythonLimits;
    read: (reply: AnswerReply) => PythonFailure | Result;
    isLast: boolean;
    deadline?: number;
  },
): Promise<PythonFailure | Result> {
  const { limits, read, isLast, deadline = performance.now() + limits.wallMs } = options;
  const reply = await child.send(frame, { wallMs: Math.max(0, deadline - performance.now()), isLast });
  if (reply.kind === 'answer') return read(reply);
  return failureOfUnanswered(child, reply.kind, limits, deadline - performance.now());
}

/** Evaluates one record in a child of its own. Only code that takes the whole record is sent it, once the child asks. */
async function evaluateAlone(
  child: Child,
  { code, input, output, record, labels }: EvaluateJob,
  limits: PythonLimits,
): Promise<PythonFailure | PythonScore> {
  const deadline = performance.now() + limits.wallMs;
  const reply = await child.send(encodeFrame({ task: 'evaluate', code, input, output, labels }), {
    wallMs: limits.wallMs,
    isLast: true,
  });
  if (reply.kind !== 'answer') {
    return failureOfUnanswered(child, reply.kind, limits, deadline - performance.now());
  }
  if (!asksForRecord(reply)) return readScore(reply);
  const whole = recordFrame(record);
  const result =
    'code' in whole
      ? whole
      : await exchange(child, whole, { limits, read: readScore, isLast: true, deadline });
  // A child that was not sent the record, or asks for it once more, still waits.
  if (isFailure(result)) child.kill();
  return result;
}

function asksForRecord({ answer }: AnswerReply): boolean {
  return answer.kind === 'loaded' && answer.takesRecord;
}

/** Runs one job in a child of its own. */
async function runAlone<Result extends object>(
  pool: ChildPool,
  limits: PythonLimits,
  clock: Clock,
  run: (child: Child) => Promise<PythonFailure | Result>,
): Promise<(PythonFailure | Result) & Timed> {
  const child = await acquireChild(pool, limits);
  const startedAt = clock.monotonic();
  if ('code' in child) return { ...child, durationMs: 0 };
  const result = await run(child);
  return { ...result, durationMs: clock.monotonic() - startedAt };
}

/** Evaluates one record. */
export function runOne(
  pool: ChildPool,
  job: EvaluateJob,
  limits: PythonLimits,
  clock: Clock,
): Promise<TimedResult> {
  return runAlone(pool, limits, clock, (child) => evaluateAlone(child, job, limits));
}

/** Compiles code, runs its top level, and checks `evaluate`. */
export function compileOne(
  pool: ChildPool,
  code: string,
  limits: PythonLimits,
  clock: Clock,
): Promise<(PythonFailure | Loaded) & Timed> {
  const frame = encodeFrame({ task: 'compile', code });
  return runAlone(pool, limits, clock, (child) =>
    exchange(child, frame, { limits, read: readLoaded, isLast: true }),
  );
}

/** Returns whether the result ended its child, so that the next record needs another. */
const endsChild = (result: PythonFailure | PythonScore) =>
  isFailure(result) && !['py_exception', 'py_bad_return_type', 'py_not_finite'].includes(result.code);

type BatchJob = { code: string; labels: boolean; records: readonly PythonRecord[] };

/**
 * Runs records of the same code one after another in one child. A record that ends the child, unless it was the child's
 * first, is run again as the first of the next child: the records before it may have used up what it lacked. So each record
 * fails as it would have failed alone.
 */
export async function runMany(
  pool: ChildPool,
  job: BatchJob,
  limits: PythonLimits,
  clock: Clock,
): Promise<TimedResult[]> {
  const results: TimedResult[] = [];
  while (results.length < job.records.length) {
    const child = await acquireChild(pool, limits);
    if ('code' in child) {
      // The next record would find no child either, so all remaining records fail.
      results.push(...job.records.slice(results.length).map(() => ({ ...child, durationMs: 0 })));
      return results;
    }
    await runInChild(child, job, limits, clock, results);
  }
  return results;
}

/** Adds the results of the records that this child takes: at least one. */
async function runInChild(
  child: Child,
  job: BatchJob,
  limits: PythonLimits,
  clock: Clock,
  results: TimedResult[],
): Promise<void> {
  const first = results.length;
  let startedAt = clock.monotonic();
  const loaded = await exchange(child, encodeFrame({ task: 'many', code: job.code, labels: job.labels }), {
    limits,
    read: readLoaded,
    isLast: false,
  });
  if (isFailure(loaded)) {
    child.kill();
    results.push({ ...loaded, durationMs: clock.monotonic() - startedAt });
    return;
  }
  for (const record of job.records.slice(first)) {
    const frame = batchFrame(record, loaded.takesRecord);
    const isTooLarge = 'code' in frame;
    const result = isTooLarge
      ? frame
      : await exchange(child, frame, { limits, read: readScore, isLast: false });
    const isSpent = !isTooLarge && endsChild(result);
    if (!isSpent || results.length === first) {
      results.push({ ...result, durationMs: clock.monotonic() - startedAt });
      startedAt = clock.monotonic();
    }
    if (isSpent) break;
  }
  child.kill();
}

/** Returns the frames of one record of a batch: its texts, and the whole record for code that takes it. */
function batchFrame({ input, output, record }: PythonRecord, takesRecord: boolean): Buffer | PythonFailure {
  const texts = encodeFrame({ input, output });
  if (!takesRecord) return texts;
  const whole = recordFrame(record);
  return 'code' in whole ? whole : Buffer.concat([texts, whole]);
}
