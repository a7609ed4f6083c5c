/** Translates the end of a child into the outcomes of core/scoring. */

import { type EvaluationErrorCode, publicMessage } from '#core/scoring/mod.ts';
import type { ChildExit, ChildReply } from './child.ts';
import { MAX_RECORD_BYTES, MAX_SOURCE_BYTES, MAX_TEXT_BYTES, type PythonLimits } from './limits.ts';

/** The failure of an evaluation, or of a check of the code. */
export type PythonFailure = {
  code: EvaluationErrorCode;
  message: string;
  line: number | null;
  column: number | null;
  /** `later` when the same code with the same texts may succeed another time. */
  retry: 'never' | 'later';
  /** Printed output; empty when the child could not send it. */
  traces: string;
};

/** The exit status of evaluation.py when no memory is left for an answer. */
const NO_MEMORY_TO_ANSWER = 95;
const SIGABRT = 6;
const SIGKILL = 9;
const SIGXCPU = 24;
const SIGSYS = 31;
const SIGNAL_NAMES: Readonly<Record<number, string>> = {
  4: 'SIGILL',
  [SIGABRT]: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  11: 'SIGSEGV',
};

export function failure(
  code: EvaluationErrorCode,
  message: string,
  retry: 'never' | 'later' = 'never',
): PythonFailure {
  return { code, message: publicMessage(message), line: null, column: null, retry, traces: '' };
}

/** Failures of the sandbox's own checks. */
export const sandboxUnavailable = (why: string) => failure('sandbox_unavailable', why, 'later');
export const sourceTooLarge = (bytes: number) =>
  failure('source_too_large', `The code has ${bytes} bytes; it may have ${MAX_SOURCE_BYTES}`);
export const inputTooLarge = (bytes: number) =>
  failure(
    'input_too_large',
    `Input and output have ${bytes} bytes together; they may have ${MAX_TEXT_BYTES}`,
  );
export const recordTooLarge = (bytes: number) =>
  failure('input_too_large', `The record has ${bytes} bytes; it may have ${MAX_RECORD_BYTES}`);
/** The failure of a child that answered something other than was asked of it. */
export const badResult = () => failure('bad_result', 'The code interfered with how its score is reported');

/** The failure of code that ended its process without an answer. */
export const noResult = () => failure('py_no_result', 'The code ended Python before it returned a score');

const outOfMemory = (limits: PythonLimits) =>
  failure('py_memory', `The code used more than ${limits.memoryMb} MB of memory`);
const outOfCpu = (limits: PythonLimits) =>
  failure('py_timeout', `The code used more than ${limits.cpuSeconds} s of CPU`);

/**
 * Returns the failure of a child that reached its wall deadline. A child that used the CPU for at least half of that time was
 * computing, and would do so again. One that used less was waiting, for the CPU of a busy machine or in time.sleep. These two
 * look alike from outside, and a score lost to a busy machine is worse than a sleeping program that is run again, as often
 * as attempts are allowed.
 */
function outOfTime(limits: PythonLimits, exit: ChildExit | null): PythonFailure {
  const retry = exit !== null && exit.cpuMs >= limits.wallMs / 2 ? 'never' : 'later';
  return failure('py_timeout', `The code ran longer than ${limits.wallMs} ms`, retry);
}

function fromSignal(signal: number, exit: ChildExit, limits: PythonLimits): PythonFailure {
  if (signal === SIGXCPU) return outOfCpu(limits);
  if (signal === SIGSYS) return failure('py_crash', 'The code made a system call that is never allowed');
  if (signal === SIGKILL) {
    // Only the kernel sends this signal: for CPU time, when the code ignored the first signal; or because the machine has no
    // memory left, although this code may have used little of it.
    return exit.cpuMs >= limits.cpuSeconds * 1_000
      ? outOfCpu(limits)
      : failure('py_memory', 'The code was ended because the machine ran out of memory', 'later');
  }
  return failure('py_crash', `The code crashed Python with ${SIGNAL_NAMES[signal] ?? `signal ${signal}`}`);
}

/** Returns the failure of a child that did not answer. `exit` is null when its zygote died. */
export function failureOfExit(
  kind: Exclude<ChildReply['kind'], 'answer'>,
  exit: ChildExit | null,
  limits: PythonLimits,
): PythonFailure {
  if (kind === 'timeout') return outOfTime(limits, exit);
  if (kind === 'malformed') return badResult();
  if (exit === null) return failure('sandbox_crashed', 'The sandbox crashed while the code ran', 'later');
  if (exit.signal !== null) return fromSignal(exit.signal, exit, limits);
  if (exit.status === NO_MEMORY_TO_ANSWER) return outOfMemory(limits);
  return noResult();
}
