/** The sandbox: the best tier that this machine can run, and what is done in it. */
import { existsSync } from 'node:fs';
import { describeError } from '#core/contracts/errors.ts';
import type { EvaluationErrorCode, Outcome } from '#core/scoring/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Clock } from '#platform/process/clock.ts';
import {
  inputTooLarge,
  isFailure,
  type PythonFailure,
  sandboxUnavailable,
  sourceTooLarge,
  toOutcome,
} from './failure.ts';
import type { TextPair } from './frame.ts';
import { DEFAULT_LIMITS, MAX_BATCH, MAX_SOURCE_BYTES, MAX_TEXT_BYTES, type PythonLimits } from './limits.ts';
import { Pool } from './pool.ts';
import { type Result, runMany, runOne } from './run.ts';
import { findEscape } from './self-test.ts';
import { NOBODYS_TURN, type Turn, Turns } from './turns.ts';
import { TIERS, type Tier } from './zygote.ts';

export type SandboxOptions = {
  /** In which a directory for the private socket is made, 0700. */
  directory: string;
  /** The Python to run: the system's by default. */
  python?: string;
  /** Evaluations that run at once. As many children again, and as many more, wait for theirs. */
  concurrency: number;
  log: Logger;
  clock: Clock;
  /** This tier or none, instead of the best. */
  wantedTier?: Tier;
  /** How many children a zygote makes before a fresh one takes its place. */
  forksPerZygote?: number;
};

export type CompileResult =
  | { ok: true }
  | {
      ok: false;
      code: EvaluationErrorCode;
      message: string;
      /** In the source, from 1; null when it is not about a place. */
      line: number | null;
      column: number | null;
    };

export type PythonEvaluation = {
  outcome: Outcome;
  /** What was printed, 16 KB at most; empty when Python was killed. */
  traces: string;
  durationMs: number;
};

/** For metrics and the health check. */
export type SandboxState = {
  running: number;
  waiting: number;
  /** Children that wait for a job. */
  idle: number;
  /** Zygotes that died, since the start. */
  deaths: number;
};

export type Sandbox = {
  readonly tier: Tier;
  /** Why no stronger tier is used; null with the strongest. */
  readonly why: string | null;
  state(): SandboxState;
  /** Whether code can be an evaluator: compiled, run once, its `evaluate` looked at. Nothing of it is kept. */
  compile(code: string, turn?: Turn): Promise<CompileResult>;
  /** One evaluation, in a process of its own. Never rejects. */
  evaluate(job: { code: string; limits?: PythonLimits } & TextPair, turn?: Turn): Promise<PythonEvaluation>;
  /**
   * Up to 200 records of the same code, one after another in one process, where what one leaves behind the next can
   * see: for code that says that it keeps no state. Each has `limits.wallMs`, and `durationMs` of its own. One result
   * each, in order.
   * @throws RangeError for more than 200
   */
  evaluateMany(
    job: { code: string; records: readonly TextPair[]; limits?: PythonLimits },
    turn?: Turn,
  ): Promise<PythonEvaluation[]>;
  /** Ends every process, also those that run, and removes the directory. */
  stop(): Promise<void>;
};

const SYSTEM_PYTHON = '/usr/bin/python3';

function checkCode(code: string): PythonFailure | null {
  const bytes = Buffer.byteLength(code);
  return bytes > MAX_SOURCE_BYTES ? sourceTooLarge(bytes) : null;
}

function checkTexts({ input, output }: TextPair): PythonFailure | null {
  const bytes = Buffer.byteLength(input) + Buffer.byteLength(output);
  return bytes > MAX_TEXT_BYTES ? inputTooLarge(bytes) : null;
}

const toEvaluation = (result: Result): PythonEvaluation => ({
  outcome: toOutcome(result),
  traces: result.traces,
  durationMs: result.durationMs,
});

/** Too many wait already: another time. */
const queueIsFull = () => sandboxUnavailable('Too many evaluations wait for the sandbox');

class PooledSandbox implements Sandbox {
  readonly tier: Tier;
  readonly why: string | null;
  readonly #pool: Pool;
  readonly #turns: Turns;
  readonly #clock: Clock;

  constructor(pool: Pool, options: { tier: Tier; why: string | null; concurrency: number; clock: Clock }) {
    this.tier = options.tier;
    this.why = options.why;
    this.#pool = pool;
    this.#turns = new Turns(options.concurrency);
    this.#clock = options.clock;
  }

  state(): SandboxState {
    const { running, waiting } = this.#turns;
    return { running, waiting, idle: this.#pool.idle, deaths: this.#pool.deaths };
  }

  async compile(code: string, turn = NOBODYS_TURN): Promise<CompileResult> {
    const result =
      checkCode(code) ??
      (await this.#turns.run(turn, () =>
        runOne(this.#pool, { task: 'compile', code }, DEFAULT_LIMITS, this.#clock),
      )) ??
      queueIsFull();
    if (!isFailure(result)) return { ok: true };
    const { message, line, column } = result;
    return { ok: false, code: result.code, message, line, column };
  }

  async evaluate(
    job: { code: string; limits?: PythonLimits } & TextPair,
    turn = NOBODYS_TURN,
  ): Promise<PythonEvaluation> {
    const { code, input, output, limits = DEFAULT_LIMITS } = job;
    const tooMuch = checkCode(code) ?? checkTexts(job);
    if (tooMuch !== null) return toEvaluation({ ...tooMuch, durationMs: 0 });
    const result = await this.#turns.run(turn, () =>
      runOne(this.#pool, { task: 'evaluate', code, input, output }, limits, this.#clock),
    );
    return toEvaluation(result ?? { ...queueIsFull(), durationMs: 0 });
  }

  async evaluateMany(
    job: { code: string; records: readonly TextPair[]; limits?: PythonLimits },
    turn = NOBODYS_TURN,
  ): Promise<PythonEvaluation[]> {
    const { code, records, limits = DEFAULT_LIMITS } = job;
    if (records.length > MAX_BATCH) throw new RangeError(`A batch has at most ${MAX_BATCH} records`);
    const all = (failure: PythonFailure) => records.map(() => toEvaluation({ ...failure, durationMs: 0 }));
    const codeTooLarge = checkCode(code);
    if (codeTooLarge !== null) return all(codeTooLarge);
    const refusals = records.map(checkTexts);
    const fitting = records.filter((_, index) => refusals[index] === null);
    const results = await this.#turns.run(turn, () =>
      runMany(this.#pool, { code, records: fitting }, limits, this.#clock),
    );
    if (results === null) return all(queueIsFull());
    const inOrder = results.values();
    return refusals.map((refusal) =>
      toEvaluation(refusal === null ? inOrder.next().value! : { ...refusal, durationMs: 0 }),
    );
  }

  stop(): Promise<void> {
    return this.#pool.close();
  }
}

/** Where nothing can wall in code, none is run. */
function noSandbox(why: string): Sandbox {
  const failure = { ...sandboxUnavailable(`Python evaluators cannot run here: ${why}`), durationMs: 0 };
  const { code, message, line, column } = failure;
  return {
    tier: 'none',
    why,
    state: () => ({ running: 0, waiting: 0, idle: 0, deaths: 0 }),
    compile: async () => ({ ok: false, code, message, line, column }),
    evaluate: async () => toEvaluation(failure),
    evaluateMany: async ({ records }) => records.map(() => toEvaluation(failure)),
    stop: async () => {},
  };
}

type RealTier = Exclude<Tier, 'none'>;

/** The tiers to try, and why not the others. */
function candidates(wanted: Tier | undefined): { tiers: RealTier[]; why: string[] } {
  if (process.platform !== 'linux') return { tiers: [], why: [`it needs Linux, not ${process.platform}`] };
  if (wanted === 'none') return { tiers: [], why: ['none is wanted'] };
  if (wanted !== undefined) return { tiers: [wanted], why: [] };
  const isRoot = process.getuid?.() === 0;
  const tiers = TIERS.filter((tier): tier is RealTier => tier !== 'none' && (tier !== 'chroot' || isRoot));
  return { tiers, why: isRoot ? [] : ['chroot: it needs root'] };
}

async function openTested(tier: RealTier, options: SandboxOptions): Promise<Pool> {
  const { directory, log, clock, concurrency, forksPerZygote } = options;
  const python = options.python ?? (existsSync(SYSTEM_PYTHON) ? SYSTEM_PYTHON : 'python3');
  // Children wait for jobs, not jobs for children: one is ready for whoever comes while the last takers' are made.
  const pool = await Pool.open({ tier, python, directory, log, forksPerZygote, idle: 2 * concurrency });
  const escaped = await findEscape(async (job) =>
    toOutcome(await runOne(pool, { task: 'evaluate', ...job }, DEFAULT_LIMITS, clock)),
  );
  if (escaped === null) return pool;
  await pool.close();
  throw new Error(escaped);
}

/**
 * Starts the sandbox in the best tier that starts and passes its self-test; tier `none`, in which everything fails
 * with sandbox_unavailable, when there is none. Never rejects for want of one. To be called in the main thread: the
 * kernel ends the zygote with the thread that started it.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { tiers, why } = candidates(options.wantedTier);
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
