/** The scorer: one function for every kind of evaluator. Threads call judges and services, the sandbox runs Python. */
import { availableParallelism } from 'node:os';
import { choicesOf } from '#core/contracts/categories.ts';
import type { CodeTemplate, LlmTemplate } from '#core/contracts/evaluator.ts';
import type { CalledConfig } from '#core/contracts/external.ts';
import type {
  Evaluated,
  LlmScoringType,
  MemberJudgment,
  Outcome,
  Probe,
  StoredRecord,
} from '#core/scoring/mod.ts';
import { createThreadPool } from '#platform/process/thread-pool.ts';
import type { Criterion, Judged } from '../llm/mod.ts';
import { DEFAULT_LIMITS, type Sandbox, type SlotHolder } from '../python/mod.ts';
import { type BatchItem, completeBatch, open } from './batch.ts';
import type {
  ExternalTask,
  JudgedPair,
  JudgeTask,
  PairTask,
  PythonTexts,
  RubricTask,
  ThreadData,
} from './scoring-thread.ts';

/** Definition of an evaluator, with its secrets decrypted. */
export type Definition =
  | { scoringType: LlmScoringType | 'LLM-PAIRWISE'; template: LlmTemplate }
  | { scoringType: 'LLM-RUBRIC'; template: LlmTemplate; criteria: readonly Criterion[] }
  | { scoringType: 'PYTHON'; template: CodeTemplate }
  | { scoringType: 'EXTERNAL'; config: CalledConfig; secrets: Record<string, string> };

/** Evaluations by one evaluator. A service, or Python, may receive several of them in one request. */
export type ScoreJob = {
  organizationId: string;
  evaluator: { id: string; version: number; name: string };
  definition: Definition;
  items: ScoreItem[];
  /** A user waits for it: Python runs in the slots for trials. */
  isTrial?: boolean;
};

export type ScoreItem = {
  evaluationId: string;
  call: StoredRecord;
  probe: Probe | null;
  /** The judgments of a jury's members at an earlier attempt. Absent: none. */
  earlier?: readonly MemberJudgment[];
  /** The answer that it is judged beside. Absent: it is judged alone. */
  pair?: JudgedPair;
};

/** Result of scoring one item; for a judge also its prompt, its raw reply and how that was parsed. */
export type ScoreResult = Evaluated & Partial<Pick<Judged, 'prompt' | 'raw' | 'parse'>>;

export type Scorer = {
  /** Scores a job: one result for each item, in order. Never rejects: a defect of Assay becomes an outcome too. */
  score(job: ScoreJob): Promise<ScoreResult[]>;
  close(): Promise<void>;
};

/** Memory of a thread: several parsed records of some MiB each. One that needs more ends its thread, and nothing else. */
const THREAD_MEMORY_MB = 1_024;

/** Try-outs under way in a process at the most: each may have a task in a thread. */
export const MOST_TRIALS = 16;

/** A thread takes a third of a second to start, and some 20 MB. */
const THREAD_IDLE_MS = 60_000;

type ScorerOptions = {
  thread: ThreadData;
  sandbox: Sandbox;
  /** Concurrent calls to judges and services. */
  concurrency: number;
  onDefect(error: unknown, evaluationIds: string[]): void;
};

/** Makes the scorer of a process. Its threads start with the first task and end when idle. */
export function createScorer({ thread, sandbox, concurrency, onDefect }: ScorerOptions): Scorer {
  const threads = Math.min(2, availableParallelism());
  const pool = createThreadPool<unknown, unknown>({
    module: new URL('./scoring-thread.ts', import.meta.url),
    threadMemoryMb: THREAD_MEMORY_MB,
    workerData: thread,
    minThreads: 0,
    maxThreads: threads,
    // Most of the time a task waits for a response. There are more than a lane holds with its spare places, and all try-outs beside it.
    concurrentTasksPerWorker: Math.ceil((2 * concurrency + MOST_TRIALS) / threads),
    idleTimeout: THREAD_IDLE_MS,
    // By default an idle thread sleeps in Atomics.wait, where neither timers nor sockets wake it: it would keep
    // connections that the gateway has closed long ago, and lose the next call on each of them.
    atomics: 'disabled',
  });
  const run = <Task, Result>(name: string, task: Task) => pool.run(task, { name }) as Promise<Result>;

  async function evaluate(job: ScoreJob): Promise<ScoreResult[]> {
    const { definition, organizationId, evaluator, items, isTrial = false } = job;
    switch (definition.scoringType) {
      case 'PYTHON':
        return await scoreInPython(
          items.map(({ call }) => call),
          definition.template,
          { organizationId, share: isTrial ? 'trials' : 'evaluations' },
        );
      case 'EXTERNAL': {
        const { config, secrets } = definition;
        return await run<ExternalTask, Evaluated[]>('scoreExternally', { items, evaluator, config, secrets });
      }
      case 'LLM-RUBRIC': {
        const { template, criteria } = definition;
        const task = { organizationId, template, criteria, evaluatorName: evaluator.name };
        return await Promise.all(
          items.map((item) => run<RubricTask, Judged>('judgeCallByRubric', { ...task, ...item })),
        );
      }
      case 'LLM-PAIRWISE': {
        const { template } = definition;
        const task = { organizationId, template, evaluatorName: evaluator.name };
        return await Promise.all(
          items.map((item) =>
            run<PairTask, Judged>('judgeCallInPair', { ...task, ...item, pair: item.pair! }),
          ),
        );
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

  async function scoreInPython(
    calls: StoredRecord[],
    { code, categories, limits: ownLimits }: CodeTemplate,
    holder: SlotHolder,
  ): Promise<Evaluated[]> {
    const prepared = await run<StoredRecord[], BatchItem<PythonTexts, Evaluated>[]>('preparePython', calls);
    const limits = { ...DEFAULT_LIMITS, ...ownLimits };
    const choices = categories && choicesOf(categories);
    // The bodies stay here: only code that takes the whole record is sent them.
    const batch = prepared.map((item, index) =>
      item.kind === 'open' ? open(pythonRecord(item.work, calls[index]!)) : item,
    );
    return await completeBatch(batch, async (records): Promise<Evaluated[]> => {
      const [first, ...more] = records;
      const results =
        more.length === 0
          ? [await sandbox.evaluate({ code, choices, limits, ...first! }, holder)]
          : await sandbox.evaluateMany({ code, choices, limits, records }, holder);
      return results.map(({ outcome }) => ({ outcome, use: null }));
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

function pythonRecord({ input, output, session }: PythonTexts, call: StoredRecord) {
  const { requestText, responseText, inputs, expected = null } = call;
  return { input, output, record: { requestText, responseText, inputs: inputs ?? '{}', expected, session } };
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
