/** Everything that can score, behind one function: the pool for judges and services, the sandbox for Python. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { CodeTemplate, LlmScoringType, LlmTemplate } from '#core/schema/evaluator.ts';
import type { ExternalConfig } from '#core/schema/external.ts';
import type { Evaluated, Outcome, Probe, StoredCall } from '#core/scoring/mod.ts';
import type { Judged } from '../llm/mod.ts';
import { DEFAULT_LIMITS, type Sandbox } from '../python/mod.ts';
import type { ExternalTask, JudgeTask, Preparation, ThreadData } from './score.ts';

/** What an evaluator is made of, its secrets opened. */
export type Definition =
  | { scoringType: LlmScoringType; template: LlmTemplate }
  | { scoringType: 'PYTHON'; template: CodeTemplate }
  | { scoringType: 'EXTERNAL'; config: ExternalConfig; secrets: Record<string, string> };

export type ScoreJob = {
  organizationId: string;
  evaluationId: string;
  evaluator: { id: string; version: number; name: string };
  definition: Definition;
  call: StoredCall;
  probe: Probe | null;
};

/** What came of it, and, of a judge, how. */
export type Scored = Evaluated & Partial<Pick<Judged, 'prompt' | 'raw' | 'parse'>>;

export type Scorer = {
  /** Never rejects: a defect of ours is an outcome too. */
  score(job: ScoreJob): Promise<Scored>;
  close(): Promise<void>;
};

/** Of a thread: a record of some MiB, parsed, several times over. One that needs more ends its thread, and nothing else. */
const THREAD_MEMORY_MB = 1_024;

export type ScorerOptions = {
  thread: ThreadData;
  sandbox: Sandbox;
  /** Calls of judges and services at a time. */
  concurrency: number;
  onDefect(error: unknown, evaluationId: string): void;
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
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
  });
  const run = <Task, Result>(name: string, task: Task): Promise<Result> => pool.run(task, { name });

  async function evaluate({ definition, ...job }: ScoreJob): Promise<Scored> {
    switch (definition.scoringType) {
      case 'PYTHON':
        return await inPython(job.call, definition.template);
      case 'EXTERNAL': {
        const { config, secrets } = definition;
        return await run<ExternalTask, Evaluated>('scoreExternally', { ...job, config, secrets });
      }
      default: {
        const { scoringType, template } = definition;
        const task = { ...job, scoringType, template, evaluatorName: job.evaluator.name };
        return await run<JudgeTask, Judged>('judgeCall', task);
      }
    }
  }

  async function inPython(call: StoredCall, { code, limits }: CodeTemplate): Promise<Scored> {
    const prepared = await run<Preparation, { input: string; output: string } | Evaluated>('prepare', {
      call,
    });
    if ('outcome' in prepared) return prepared;
    const { outcome } = await sandbox.evaluate({
      code,
      limits: { ...DEFAULT_LIMITS, ...limits },
      ...prepared,
    });
    return { outcome, use: null };
  }

  return {
    score: async (job) => {
      try {
        return await evaluate(job);
      } catch (error) {
        onDefect(error, job.evaluationId);
        return { outcome: DEFECT, use: null };
      }
    },
    close: async () => {
      await pool.destroy();
    },
  };
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
