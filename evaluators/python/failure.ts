/** Failures of a Python child process, and its result as an outcome of core/scoring. */
import { storableText } from '#core/contracts/storable-text.ts';
import { type EvaluationErrorCode, type Outcome, publicMessage } from '#core/scoring/mod.ts';
import type { Exit, Reply } from './child.ts';
import { MAX_SOURCE_BYTES, MAX_TEXT_BYTES, type PythonLimits } from './limits.ts';

/** A failure of an evaluation, or of a check of the code. */
export type PythonFailure = {
  code: EvaluationErrorCode;
  message: string;
  line: number | null;
  column: number | null;
  /** Whether the same code may succeed with the same texts at another time. */
  retry: 'never' | 'later';
  /** Output of the code; empty if the child could not send it. */
  traces: string;
};

/** Exit status of evaluation.py when it has no memory left to reply. */
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

function failure(
  code: EvaluationErrorCode,
  message: string,
  retry: 'never' | 'later' = 'never',
): PythonFailure {
  return { code, message: publicMessage(message), line: null, column: null, retry, traces: '' };
}

export const sandboxUnavailable = (why: string) => failure('sandbox_unavailable', why, 'later');
export const sourceTooLarge = (bytes: number) =>
  failure('source_too_large', `The code has ${bytes} bytes; it may have ${MAX_SOURCE_BYTES}`);
export const inputTooLarge = (bytes: number) =>
  failure(
    'input_too_large',
    `Input and output have ${bytes} bytes together; they may have ${MAX_TEXT_BYTES}`,
  );

export const noResult = () => failure('py_no_result', 'The code ended Python before it returned a score');

const outOfMemory = (limits: PythonLimits) =>
  failure('py_memory', `The code used more than ${limits.memoryMb} MB of memory`);
const outOfCpu = (limits: PythonLimits) =>
  failure('py_timeout', `The code used more than ${limits.cpuSeconds} s of CPU`);

/**
 * Returns the failure at the wall-clock deadline. A child that had the CPU for half of the time or more was computing, and
 * would again: no retry. One that had less was waiting, for the CPU of a busy machine or in time.sleep. The two cannot be
 * told apart from outside, and losing a score to a busy machine is worse than running a sleeper once per attempt.
 */
function outOfTime(limits: PythonLimits, exit: Exit | null): PythonFailure {
  const retry = exit !== null && exit.cpuMs >= limits.wallMs / 2 ? 'never' : 'later';
  return failure('py_timeout', `The code ran longer than ${limits.wallMs} ms`, retry);
}

function fromSignal(signal: number, exit: Exit, limits: PythonLimits): PythonFailure {
  if (signal === SIGXCPU) return outOfCpu(limits);
  if (signal === SIGSYS) return failure('py_crash', 'The code made a system call that is never allowed');
  if (signal === SIGKILL) {
    // Sent by the kernel only: for CPU time, if the code ignored the first signal, or because the machine has no memory
    // left, of which this code may have used the least.
    return exit.cpuMs >= limits.cpuSeconds * 1_000
      ? outOfCpu(limits)
      : failure('py_memory', 'The code was ended because the machine ran out of memory', 'later');
  }
  return failure('py_crash', `The code crashed Python with ${SIGNAL_NAMES[signal] ?? `signal ${signal}`}`);
}

/** Returns the failure of a child that did not reply. `exit` is null if its zygote died. */
export function failureOfExit(
  kind: Exclude<Reply['kind'], 'answer'>,
  exit: Exit | null,
  limits: PythonLimits,
): PythonFailure {
  if (kind === 'late') return outOfTime(limits, exit);
  if (kind === 'garbage') return failure('bad_result', 'The code interfered with how its score is told');
  if (exit === null) return failure('sandbox_crashed', 'The sandbox crashed while the code ran', 'later');
  if (exit.signal !== null) return fromSignal(exit.signal, exit, limits);
  if (exit.status === NO_MEMORY_TO_ANSWER) return outOfMemory(limits);
  return noResult();
}

/** Reads a child's reply. `wanted` is the kind of a successful reply to its job. */
export function readReply(
  reply: Extract<Reply, { kind: 'answer' }>,
  wanted: 'loaded' | 'score',
): PythonFailure | { score: number; traces: string } {
  const { answer } = reply;
  const traces = storableText(answer.traces);
  if (answer.kind === 'failure') {
    const { code, message, line, column } = answer;
    return { ...failure(code, message), line, column, traces };
  }
  if (answer.kind !== wanted) {
    return failure('bad_result', 'The code interfered with how its score is told');
  }
  return { score: answer.kind === 'score' ? answer.score : 0, traces };
}

/** The limit of publicMessage. */
const MAX_MESSAGE_LENGTH = 500;

/** Appends `end` to a message, which is shortened so that both fit. */
function withEnd(message: string, end: string): string {
  const room = MAX_MESSAGE_LENGTH - end.length;
  return message.length > room ? `${message.slice(0, room - 1)}…${end}` : message + end;
}

export function isFailure(result: PythonFailure | { score: number }): result is PythonFailure {
  return 'code' in result;
}

/** Returns the outcome of an evaluation. */
export function toOutcome(result: PythonFailure | { score: number; traces: string }): Outcome {
  const traces = result.traces === '' ? null : result.traces;
  if (!isFailure(result)) {
    return { state: 'completed', score: result.score, label: null, reasoning: null, traces, flags: [] };
  }
  const { code, line, retry } = result;
  const message = line === null ? result.message : withEnd(result.message, ` (line ${line})`);
  return { state: 'failed', code, message, retry, retryAfterMs: null, pause: null, traces };
}
