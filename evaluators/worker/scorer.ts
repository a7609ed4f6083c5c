/** Everything that can score, behind one function: the pool for judges and services, the sandbox for Python. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { CodeTemplate, LlmScoringType, LlmTemplate } from '#core/contracts/evaluator.ts';
import type { ExternalConfig } from '#core/contracts/external.ts';
import type { Evaluated, Outcome, Probe, StoredCall } from '#core/scoring/mod.ts';
import type { Judged } from '../llm/mod.ts';
import { DEFAULT_LIMITS, type Sandbox, type Turn } from '../python/mod.ts';
import { mapSome } from './map-some.ts';
import type { ExternalTask, JudgeTask, Texts, ThreadData } from './score.ts';

/** What an evaluator is made of, its secrets opened. */
export type Definition =
  | { scoringType: LlmScoringType; template: LlmTemplate }
  | { scoringType: 'PYTHON'; template: CodeTemplate }
  | { scoringType: 'EXTERNAL'; config: ExternalConfig; secrets: Record<string, string> };

/** Evaluations of one evaluator: of its service or its Python, several in one call are one call. */
export type ScoreJob = {
  organizationId: string;
  evaluator: { id: string; version: number; name: string };
  definition: Definition;
  items: ScoreItem[];
  /** Python's: somebody waits for it, so it uses the slots of trials. */
  isTrial?: boolean;
};

export type ScoreItem = { evaluationId: string; call: StoredCall; probe: Probe | null };

/** What came of it, and, of a judge, how. */
export type Scored = Evaluated & Partial<Pick<Judged, 'prompt' | 'raw' | 'parse'>>;

export type Scorer = {
  /** One for each item, in order. Never rejects: a defect of ours is an outcome too. */
  score(job: ScoreJob): Promise<Scored[]>;
  close(): Promise<void>;
};

/** Of a thread: a record of some MiB, parsed, several times over. One that needs more ends its thread, and nothing else. */
const THREAD_MEMORY_MB = 1_024;

export type ScorerOptions = {
  thread: ThreadData;
  sandbox: Sandbox;
  /** Calls of judges and services at a time. */
  concurrency: number;
  onDefect(error: unknown, evaluationIds: string[]): void;
};

export function createScorer({ thread, sandbox, concurrency, onDefect }: ScorerOptions): Scorer {
  const threads = Math.min(2, availableParallelism());
  const pool = new Piscina({
    filename: fileURLToPath(new URL('./score.ts', import.meta.url)),
    workerData: thread,
    minThreads: 1,
    maxThreads: threads,
    // Most of the time a task waits for somebody's answer.
    concurrentTasksPerWorker: Math.ceil((2 * concurrency) / threads),
    idleTimeout: Number.POSITIVE_INFINITY,
    // By default an idle thread sleeps in Atomics.wait, where neither its timers nor its sockets wake it: it would keep
    // connections that the gateway has long closed, and lose the next call on each of them.
    atomics: 'disabled',
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
  });
  // A thread that dies at rest has no task that could fail with it, and an event without a listener ends the process.
  pool.on('error', () => {});
  const run = <Task, Result>(name: string, task: Task): Promise<Result> => pool.run(task, { name });

  async function evaluate(job: ScoreJob): Promise<Scored[]> {
    const { definition, organizationId, evaluator, items, isTrial = false } = job;
    switch (definition.scoringType) {
      case 'PYTHON':
        return await inPython(
          items.map(({ call }) => call),
          definition.template,
          { organizationId, share: isTrial ? 'trials' : 'evaluations' },
        );
      case 'EXTERNAL': {
        const { config, secrets } = definition;
        return await run<ExternalTask, Evaluated[]>('scoreExternally', { items, evaluator, config, secrets });
      }
      default: {
        const { scoringType, template } = definition;
        const task = { organizationId, scoringType, template, evaluatorName: evaluator.name };
        return await Promise.all(
          items.map((item) => run<JudgeTask, Judged>('judgeCall', { ...task, ...item })),
        );
      }
    }
  }

  async function inPython(
    calls: StoredCall[],
    { code, limits: ownLimits }: CodeTemplate,
    turn: Turn,
  ): Promise<Evaluated[]> {
    const prepared = await run<StoredCall[], (Texts | Evaluated)[]>('prepare', calls);
    const limits = { ...DEFAULT_LIMITS, ...ownLimits };
    return await mapSome(prepared, isTexts, async (records): Promise<Evaluated[]> => {
      const [first, ...more] = records;
      const done =
        more.length === 0
          ? [await sandbox.evaluate({ code, limits, ...first! }, turn)]
          : await sandbox.evaluateMany({ code, limits, records }, turn);
      return done.map(({ outcome }) => ({ outcome, use: null }));
    });
  }

  return {
    score: async (job) => {
      try {
        return await evaluate(job);
      } catch (error) {
        onDefect(
          error,
          job.items.map((item) => item.evaluationId),
        );
        return job.items.map(() => ({ outcome: DEFECT, use: null }));
      }
    },
    close: async () => {
      await pool.destroy();
    },
  };
}

function isTexts(prepared: Texts | Evaluated): prepared is Texts {
  return 'input' in prepared;
}

const DEFECT: Outcome = {
  state: 'failed',
  code: 'internal_error',
  message: 'Something went wrong in Assay; its log has the details',
  retry: 'later',
  retryAfterMs: null,
  pause: null,
  traces: null,
};
