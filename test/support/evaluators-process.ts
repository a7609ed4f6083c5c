/** Stands for the evaluators process at its own boundary: takes trials from the database, and answers as a test says. */

import type { TestTrialResult, TrialBody, TrialResult } from '#core/contracts/trial.ts';
import type { Outcome } from '#core/scoring/mod.ts';
import { createListener } from '#platform/postgres/mod.ts';
import { reportProcess } from '#platform/processes/mod.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { startTestApi, type TestApi } from './api.ts';
import { type Database, type Owner, silentLog } from './world.ts';

export type EvaluatorsProcess = {
  /** What it was asked, in order. */
  bodies: TrialBody[];
  /** The prompt variables of each, as text. */
  inputs: (string | null)[];
  /** How it answers; null: it takes the trial and never answers. */
  answer: (body: TrialBody) => TrialResult | null;
  /** Whether it tells that it has answered. */
  tells: boolean;
  stop(): Promise<void>;
};

/** Compiles everything but what holds `syntax error`; whatever is tried out scores 1. */
export function usualAnswer(body: TrialBody): TrialResult {
  if (body.kind === 'test') return tested({ state: 'completed', score: 1, ...NOTHING });
  if (!body.code.includes('syntax error')) return { kind: 'compile', ok: true };
  return {
    kind: 'compile',
    ok: false,
    code: 'py_syntax_error',
    message: 'SyntaxError: invalid syntax',
    line: 2,
    column: 5,
  };
}

const NOTHING = { label: null, reasoning: null, traces: null, flags: [] };

/** The result of a test without a judge. */
export function tested(outcome: Outcome, rest: Partial<TestTrialResult> = {}): TestTrialResult {
  const nothing = {
    use: null,
    warnings: [],
    traces: null,
    prompt: null,
    raw: null,
    parse: null,
    members: null,
  };
  return { kind: 'test', outcome, durationMs: 3, ...nothing, ...rest };
}

/** Starts one; resolves when it listens. */
async function startEvaluatorsProcess({ sql }: Database): Promise<EvaluatorsProcess> {
  const started: EvaluatorsProcess = {
    bodies: [],
    inputs: [],
    answer: usualAnswer,
    tells: true,
    stop: async () => {},
  };
  const under = new Set<Promise<void>>();
  async function take(trialId: string): Promise<void> {
    const [row] = await sql<{ body: TrialBody; inputs: string | null }[]>`
      update assay.evaluator_trials set taken_at = now()
      where trial_id = ${trialId} and taken_at is null
      returning body, (body #> '{testInput,inputs}')::text as inputs`;
    if (row === undefined) return;
    started.bodies.push(row.body);
    started.inputs.push(row.inputs);
    const result = started.answer(row.body);
    if (result === null) return;
    await sql`update assay.evaluator_trials set result = ${JSON.stringify(result)}::text::jsonb
      where trial_id = ${trialId}`;
    if (started.tells) await sql`select pg_notify('assay_trial_results', ${trialId})`;
  }
  const report = await reportProcess({
    sql,
    log: silentLog,
    role: 'evaluators',
    facts: { sandbox: 'chroot', why: null },
    read: () => ({ held: 0 }),
  });
  await new Promise<void>((resolve) => {
    const listening = createListener({ sql, log: silentLog }).listen({
      channel: 'assay_trials',
      onNotify: (trialId) => {
        const one = take(trialId);
        under.add(one);
        void one.finally(() => under.delete(one));
      },
      onListening: resolve,
      onLost: () => {},
    });
    started.stop = async () => {
      await listening.stop();
      await report.stop();
      await Promise.allSettled(under);
    };
  });
  return started;
}

/** Of 32 bytes, as the operator would set it. */
const SECRET_KEY = Buffer.alloc(32, 7);
export const SECRET_KEY_TEXT = SECRET_KEY.toString('base64');
export const secretBox = createSecretBox([SECRET_KEY]);

export type EvaluatorApi = TestApi & {
  process: EvaluatorsProcess;
  /** Calls that have to succeed; returns their data. */
  make<T = Evaluator>(path: string, body?: unknown, method?: string): Promise<T>;
};

/** As far as tests look at it. */
export type Evaluator = Record<string, unknown> & { id: string; version: number; name: string };

/** Starts the API with an evaluators process beside it, until the test ends. */
export async function startEvaluatorApi(owner: Owner): Promise<EvaluatorApi> {
  const api = await startTestApi(owner, { environment: { SECRET_KEY: SECRET_KEY_TEXT } });
  const process = await startEvaluatorsProcess(api.database);
  owner.teardown(() => process.stop());
  return {
    ...api,
    process,
    async make<T>(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') {
      const answer = await api.call(path, body === undefined ? { method } : { method, body });
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
      return answer.body.data as T;
    },
  };
}

/** Bodies that make an evaluator of each type. */
export const BOOLEAN = {
  scoring_type: 'LLM-BOOLEAN',
  llm_template: { model: 'gpt-4o-mini', prompt: 'Is {{output}} polite?' },
};
export const RANGE = {
  scoring_type: 'LLM-RANGE',
  llm_template: { model: 'gpt-4o-mini', prompt: 'How good is {{output}}?', min: 1, max: 5 },
};
export const CHOICE = {
  scoring_type: 'LLM-CHOICE',
  llm_template: {
    model: 'gpt-4o-mini',
    prompt: 'Which?',
    choices: [
      { score: 0, description: 'bad' },
      { score: 1, description: 'good' },
    ],
  },
};
export const CODE = 'def evaluate(input, output):\n    return len(output)\n';
export const PYTHON = { scoring_type: 'PYTHON', code_template: { code: CODE } };
export const EXTERNAL = {
  scoring_type: 'EXTERNAL',
  external_config: {
    adapter: 'http',
    url: 'https://public.example.com/score',
    headers: { authorization: 'Bearer very-secret-token' },
  },
};
