/** The sandbox: compiles and evaluates Python in children of its tier. */
import type { Choice } from '#core/contracts/categories.ts';
import type { EvaluationErrorCode, Outcome } from '#core/scoring/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { inputTooLarge, type PythonFailure, sandboxUnavailable, sourceTooLarge } from './failure.ts';
import type { PythonRecord, TextPair } from './frame.ts';
import { DEFAULT_LIMITS, MAX_BATCH, MAX_SOURCE_BYTES, MAX_TEXT_BYTES, type PythonLimits } from './limits.ts';
import type { ChildPool } from './pool.ts';
import { isFailure, toOutcome } from './result.ts';
import { compileOne, runMany, runOne, type TimedResult } from './run.ts';
import { NO_ORGANIZATION, SandboxSlots, type SlotHolder } from './slots.ts';
import type { SandboxTier } from './zygote.ts';

/** The result of compiling an evaluator's code. */
export type CompileResult =
  | { ok: true }
  | {
      ok: false;
      code: EvaluationErrorCode;
      message: string;
      /** Place in the source, counted from 1; null when the error has none. */
      line: number | null;
      column: number | null;
    };

/** The result of one evaluation. */
export type PythonEvaluation = {
  outcome: Outcome;
  /** Printed output, at most 16 KB; empty when Python was killed. */
  traces: string;
  durationMs: number;
};

/** The code of an evaluation. `choices` are the categories of its evaluator, which its labels must be; absent: it has none. */
type PythonCode = { code: string; choices?: readonly Choice[] | undefined; limits?: PythonLimits };

/** For metrics and the health check. */
export type SandboxState = {
  running: number;
  waiting: number;
  /** Children that wait for a job. */
  idle: number;
  /** Zygotes that died since the start. */
  deaths: number;
};

/** A started sandbox. */
export type Sandbox = {
  readonly tier: SandboxTier;
  /** The reason why no stronger tier is used; null in the strongest. */
  readonly why: string | null;
  state(): SandboxState;
  /** Checks code for an evaluator: compiles it, runs its top level, and checks `evaluate`. Nothing is kept. */
  compile(code: string, holder?: SlotHolder): Promise<CompileResult>;
  /** Runs one evaluation, in its own process. Never rejects. */
  evaluate(job: PythonCode & PythonRecord, holder?: SlotHolder): Promise<PythonEvaluation>;
  /**
   * Runs up to 200 records of the same code one after another in one process, where each record can see what the code left
   * behind before: for code that keeps no state. `limits.wallMs` and `durationMs` are those of each record.
   * @returns one result for each record, in order
   * @throws RangeError for more than 200 records
   */
  evaluateMany(
    job: PythonCode & { records: readonly PythonRecord[] },
    holder?: SlotHolder,
  ): Promise<PythonEvaluation[]>;
  /** Ends every process, also running ones, and removes the directory. */
  stop(): Promise<void>;
};

function checkCode(code: string): PythonFailure | null {
  const bytes = Buffer.byteLength(code);
  return bytes > MAX_SOURCE_BYTES ? sourceTooLarge(bytes) : null;
}

function checkTexts({ input, output }: TextPair): PythonFailure | null {
  const bytes = Buffer.byteLength(input) + Buffer.byteLength(output);
  return bytes > MAX_TEXT_BYTES ? inputTooLarge(bytes) : null;
}

const toEvaluation = (result: TimedResult, choices: readonly Choice[] | null): PythonEvaluation => ({
  outcome: toOutcome(result, choices),
  traces: result.traces,
  durationMs: result.durationMs,
});

/** Makes the failure of a job that finds too many others waiting. */
const queueIsFull = () => sandboxUnavailable('Too many evaluations wait for the sandbox');

/** A sandbox over a pool of children. */
export class PooledSandbox implements Sandbox {
  readonly tier: SandboxTier;
  readonly why: string | null;
  readonly #pool: ChildPool;
  readonly #slots: SandboxSlots;
  readonly #clock: Clock;

  constructor(
    pool: ChildPool,
    options: { tier: SandboxTier; why: string | null; concurrency: number; clock: Clock },
  ) {
    this.tier = options.tier;
    this.why = options.why;
    this.#pool = pool;
    this.#slots = new SandboxSlots(options.concurrency);
    this.#clock = options.clock;
  }

  state(): SandboxState {
    const { running, waiting } = this.#slots;
    return { running, waiting, idle: this.#pool.idle, deaths: this.#pool.deaths };
  }

  async compile(code: string, holder = NO_ORGANIZATION): Promise<CompileResult> {
    const result =
      checkCode(code) ??
      (await this.#slots.run(holder, () => compileOne(this.#pool, code, DEFAULT_LIMITS, this.#clock))) ??
      queueIsFull();
    if (!isFailure(result)) return { ok: true };
    const { message, line, column } = result;
    return { ok: false, code: result.code, message, line, column };
  }

  async evaluate(job: PythonCode & PythonRecord, holder = NO_ORGANIZATION): Promise<PythonEvaluation> {
    const { code, input, output, record, choices = null, limits = DEFAULT_LIMITS } = job;
    const tooMuch = checkCode(code) ?? checkTexts(job);
    if (tooMuch !== null) return toEvaluation({ ...tooMuch, durationMs: 0 }, choices);
    const work = { code, input, output, record, labels: choices !== null };
    const result = await this.#slots.run(holder, () => runOne(this.#pool, work, limits, this.#clock));
    return toEvaluation(result ?? { ...queueIsFull(), durationMs: 0 }, choices);
  }

  async evaluateMany(
    job: PythonCode & { records: readonly PythonRecord[] },
    holder = NO_ORGANIZATION,
  ): Promise<PythonEvaluation[]> {
    const { code, records, choices = null, limits = DEFAULT_LIMITS } = job;
    if (records.length > MAX_BATCH) throw new RangeError(`A batch has at most ${MAX_BATCH} records`);
    const all = (failure: PythonFailure) =>
      records.map(() => toEvaluation({ ...failure, durationMs: 0 }, choices));
    const codeTooLarge = checkCode(code);
    if (codeTooLarge !== null) return all(codeTooLarge);
    const refusals = records.map(checkTexts);
    const fitting = records.filter((_, index) => refusals[index] === null);
    const results = await this.#slots.run(holder, () =>
      runMany(this.#pool, { code, labels: choices !== null, records: fitting }, limits, this.#clock),
    );
    if (results === null) return all(queueIsFull());
    const inOrder = results.values();
    return refusals.map((refusal) =>
      toEvaluation(refusal === null ? inOrder.next().value! : { ...refusal, durationMs: 0 }, choices),
    );
  }

  stop(): Promise<void> {
    return this.#pool.close();
  }
}

/** Makes the sandbox of a machine without a usable tier: it runs no code. */
export function noSandbox(why: string): Sandbox {
  const failure = { ...sandboxUnavailable(`Python evaluators cannot run here: ${why}`), durationMs: 0 };
  const { code, message, line, column } = failure;
  return {
    tier: 'none',
    why,
    state: () => ({ running: 0, waiting: 0, idle: 0, deaths: 0 }),
    compile: async () => ({ ok: false, code, message, line, column }),
    evaluate: async () => toEvaluation(failure, null),
    evaluateMany: async ({ records }) => records.map(() => toEvaluation(failure, null)),
    stop: async () => {},
  };
}
