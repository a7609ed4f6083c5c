/** Tries evaluators out before they are created, on a request and a response of the caller's. Nothing is stored. */
import { type Static, Type } from '@sinclair/typebox';
import { checkCategories } from '#core/contracts/categories.ts';
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { checkCode, llmTemplateReader } from '#core/contracts/evaluator.ts';
import { readExternalConfig } from '#core/contracts/external.ts';
import { closed, Nullable } from '#core/contracts/shapes.ts';
import { storableSessionText, storableText } from '#core/contracts/storable-text.ts';
import {
  type TestInput,
  type TestTrialResult,
  TRIAL_EVALUATOR_ID,
  type TrialDefinition,
} from '#core/contracts/trial.ts';
import { isImported, type Scope } from '#core/evaluations/mod.ts';
import { type MemberPath, parseExactJson } from '#core/json/mod.ts';
import type { Outcome } from '#core/scoring/mod.ts';
import { nanoToUsd } from '../requests/mod.ts';
import type { ExternalTestBody, LlmTestBody, PythonTestBody, TestInputBody } from './bodies.ts';
import { checkJudges, type DefineOptions, sealSecrets } from './define.ts';
import { MemberJson, memberJson } from './evaluation-json.ts';

/** The reason why there is no score. An evaluation that fails is a result of the trial, not a failure of the call. */
const TestError = Nullable(Type.Object({ code: Type.String(), message: Type.String() }, closed));
type TestError = Static<typeof TestError>;

const Text = Nullable(Type.String());
const DurationMs = Type.Number();

export const LlmTestJson = Type.Object(
  {
    score: Nullable(Type.Number()),
    label: Text,
    reasoning: Text,
    flags: Type.Array(Type.String()),
    warnings: Type.Array(Type.String()),
    usage: Nullable(
      Type.Object(
        {
          prompt_tokens: Nullable(Type.Integer()),
          completion_tokens: Nullable(Type.Integer()),
          calls: Type.Integer(),
        },
        closed,
      ),
    ),
    cost: Nullable(Type.Number(), "USD; null when the judge's model has no known price"),
    prompt: Nullable(Type.String(), 'What the judge was sent'),
    raw: Nullable(Type.String(), 'What it responded'),
    parse: Nullable(Type.String(), 'How that was read'),
    members: Nullable(Type.Array(MemberJson), 'The judgments of the members of a jury; null without one'),
    duration_ms: DurationMs,
    error: TestError,
  },
  { ...closed, $id: 'LlmTest' },
);
export type LlmTestJson = Static<typeof LlmTestJson>;

export const PythonTestJson = Type.Object(
  {
    output: Nullable(Type.Number(), 'The score'),
    label: Text,
    reasoning: Text,
    traces: Type.String({ description: 'What the code printed' }),
    duration_ms: DurationMs,
    error: TestError,
  },
  { ...closed, $id: 'PythonTest' },
);
export type PythonTestJson = Static<typeof PythonTestJson>;

export const ExternalTestJson = Type.Object(
  { score: Nullable(Type.Number()), reasoning: Text, duration_ms: DurationMs, error: TestError },
  { ...closed, $id: 'ExternalTest' },
);
export type ExternalTestJson = Static<typeof ExternalTestJson>;

export type TryOut = {
  llm(organizationId: string, sent: Sent<LlmTestBody>): Promise<LlmTestJson>;
  python(organizationId: string, sent: Sent<PythonTestBody>): Promise<PythonTestJson>;
  external(organizationId: string, sent: Sent<ExternalTestBody>): Promise<ExternalTestJson>;
};

const DEFAULT_NAME = 'Test';
const LLM_TEMPLATE_PATH = ['evaluatorConfig', 'evaluator_llm_template'];
const readLlmTemplate = llmTemplateReader(LLM_TEMPLATE_PATH);

/** The members of a try-out that are read as they were written: numbers keep their digits, as those of records do. */
export const TEST_INPUT_PATHS: readonly MemberPath[] = [
  ['testInput', 'inputBody'],
  ['testInput', 'outputBody'],
  ['testInput', 'inputs'],
  ['testInput', 'expected'],
];

/** A try-out, and the members at `TEST_INPUT_PATHS`. */
type Sent<Body> = { body: Body; written: readonly (Buffer | null)[] };

/** Returns a body as the text that a record would hold; a string has to be JSON itself. */
function bodyText(written: Buffer, path: string): string {
  const text = written.toString();
  if (!text.startsWith('"')) return text;
  const value = JSON.parse(text) as string;
  try {
    JSON.parse(value);
    return value;
  } catch {
    throw new AssayError(
      'invalid_body',
      `${path} must be JSON, or a string of JSON, but is ${quoteValue(value)}`,
    );
  }
}

function readTestInput(sessionId: string | undefined, written: Sent<unknown>['written']): TestInput {
  const [inputBody = null, outputBody = null, inputs = null, expected = null] = written;
  return {
    ...(sessionId === undefined
      ? readBodies(inputBody, outputBody)
      : readSessionId(sessionId, inputBody, outputBody)),
    inputs: inputs === null ? {} : (parseExactJson(inputs.toString()) as Record<string, unknown>),
    ...(expected !== null && { expected: expected.toString() }),
  };
}

function readBodies(
  inputBody: Buffer | null,
  outputBody: Buffer | null,
): Pick<TestInput, 'requestText' | 'responseText'> {
  if (inputBody !== null && outputBody !== null)
    return {
      requestText: bodyText(inputBody, 'testInput.inputBody'),
      responseText: bodyText(outputBody, 'testInput.outputBody'),
    };
  const missing = inputBody === null ? 'inputBody' : 'outputBody';
  throw new AssayError('invalid_body', `testInput.${missing} is required without testInput.sessionId`);
}

function readSessionId(sessionId: string, ...bodies: readonly (Buffer | null)[]) {
  if (bodies.some((body) => body !== null)) {
    const message = 'testInput.sessionId takes the place of testInput.inputBody and testInput.outputBody';
    throw new AssayError('invalid_body', message);
  }
  return { requestText: 'null', responseText: 'null', sessionId: storableSessionText(sessionId) };
}

const scopeOf = ({ sessionId }: TestInputBody): Scope => (sessionId === undefined ? 'request' : 'session');

function errorOf(outcome: Outcome): TestError {
  switch (outcome.state) {
    case 'completed':
      return null;
    case 'skipped':
      return { code: outcome.reason, message: outcome.message };
    case 'failed':
      return { code: outcome.code, message: outcome.message };
  }
}

function scoreOf(outcome: Outcome) {
  if (outcome.state !== 'completed') return { score: null, label: null, reasoning: null, flags: [] };
  const { score, label, reasoning, flags } = outcome;
  return { score, label, reasoning, flags };
}

function llmTestJson({
  outcome,
  use,
  warnings,
  prompt,
  raw,
  parse,
  members,
  durationMs,
}: TestTrialResult): LlmTestJson {
  return {
    ...scoreOf(outcome),
    warnings,
    usage:
      use === null
        ? null
        : {
            prompt_tokens: use.promptTokens,
            completion_tokens: use.completionTokens,
            calls: use.calls,
          },
    cost: use === null || use.costNano === null ? null : nanoToUsd(String(use.costNano)),
    prompt,
    raw,
    parse,
    members: members?.map(memberJson) ?? null,
    duration_ms: durationMs,
    error: errorOf(outcome),
  };
}

export function createTryOut({ trials, secrets, checkUrl, checkJudgeModel }: DefineOptions): TryOut {
  const run = (
    organizationId: string,
    { body, written }: Sent<{ testInput: TestInputBody; evaluatorName?: string }>,
    definition: TrialDefinition,
  ): Promise<TestTrialResult> =>
    trials.run({
      organizationId,
      body: {
        kind: 'test',
        evaluatorName: storableText(body.evaluatorName ?? DEFAULT_NAME),
        testInput: readTestInput(body.testInput.sessionId, written),
        ...definition,
      },
    });

  return {
    async llm(organizationId, sent) {
      const { body } = sent;
      const scoringType = body.evaluatorConfig.evaluator_scoring_type;
      const llmTemplate = readLlmTemplate(
        scoringType,
        body.evaluatorConfig.evaluator_llm_template,
        scopeOf(body.testInput),
      );
      const at = LLM_TEMPLATE_PATH.join('.');
      await checkJudges(checkJudgeModel, { organizationId, template: llmTemplate, at });
      return llmTestJson(await run(organizationId, sent, { scoringType, llmTemplate }));
    },

    async python(organizationId, sent) {
      const { body } = sent;
      const { code, categories, limits } = body;
      checkCode(code, 'code');
      if (categories !== undefined) checkCategories(categories, 'categories');
      const codeTemplate = { code, ...(categories && { categories }), ...(limits && { limits }) };
      const result = await run(organizationId, sent, { scoringType: 'PYTHON', codeTemplate });
      const { score, label, reasoning } = scoreOf(result.outcome);
      return {
        output: score,
        label,
        reasoning,
        traces: result.traces ?? '',
        duration_ms: result.durationMs,
        error: errorOf(result.outcome),
      };
    },

    async external(organizationId, sent) {
      const { body } = sent;
      const read = readExternalConfig(body.external_config, { checkUrl });
      if (isImported(read.config.adapter))
        throw new AssayError(
          'invalid_body',
          'external_config.adapter "imported" calls nothing that could be tried out',
        );
      const owner = { organizationId, evaluatorId: TRIAL_EVALUATOR_ID };
      const sealed = sealSecrets(secrets, read.secrets, owner);
      const { outcome, durationMs } = await run(organizationId, sent, {
        scoringType: 'EXTERNAL',
        externalConfig: read.config,
        sealedSecrets: sealed === null ? null : sealed.toString('base64'),
      });
      const { score, reasoning } = scoreOf(outcome);
      return { score, reasoning, duration_ms: durationMs, error: errorOf(outcome) };
    },
  };
}
