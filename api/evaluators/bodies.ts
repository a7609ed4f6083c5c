/** The bodies of `/v1/evaluator` and `/v1/evaluation`, as far as a schema can say what is right. */
import { type Static, Type } from '@sinclair/typebox';
import { type Checker, Compile } from '#core/contracts/check.ts';
import { CodeLimits } from '#core/contracts/evaluator.ts';
import {
  DEFAULT_LIMIT,
  MAX_LIMIT,
  MAX_PROPERTY_NAME_LENGTH,
  MAX_PROPERTY_VALUE_LENGTH,
} from '#core/contracts/query.ts';
import { EVALUATION_STATES, SCORING_TYPES } from '#core/scoring/mod.ts';

export { DEFAULT_LIMIT };

const closed = { additionalProperties: false };
const oneOf = <T extends string>(values: readonly T[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));
const ScoringType = oneOf(SCORING_TYPES);
/** What a template must be depends on the scoring type: core/contracts/evaluator.ts reads it. */
const Template = Type.Optional(Type.Unknown());
const Budget = Type.Optional(Type.Unknown());

export const NewEvaluatorBody = Type.Object(
  {
    name: Type.String(),
    scoring_type: ScoringType,
    llm_template: Template,
    code_template: Template,
    external_config: Template,
    daily_budget_usd: Budget,
  },
  closed,
);

export const EvaluatorChangeBody = Type.Object(
  {
    name: Type.Optional(Type.String()),
    scoring_type: Type.Optional(ScoringType),
    llm_template: Template,
    code_template: Template,
    external_config: Template,
    daily_budget_usd: Budget,
  },
  closed,
);

/** Each member restricts. */
export const EvaluatorQueryBody = Type.Object(
  {
    /** A part of the name, ignoring case. */
    name: Type.Optional(Type.String()),
    scoring_type: Type.Optional(ScoringType),
    isPaused: Type.Optional(Type.Boolean()),
  },
  closed,
);

/** Percent. */
const Percent = Type.Number({ minimum: 0, maximum: 100 });
export const MAX_PROPERTY_FILTERS = 20;

export const OnlineEvaluatorBody = Type.Object(
  {
    config: Type.Object(
      {
        /** Of the requests that pass the filters. */
        sampleRate: Percent,
        /** All of them must hold. */
        propertyFilters: Type.Optional(
          Type.Array(
            Type.Object(
              {
                key: Type.String({ minLength: 1, maxLength: MAX_PROPERTY_NAME_LENGTH }),
                value: Type.String({ maxLength: MAX_PROPERTY_VALUE_LENGTH }),
              },
              closed,
            ),
            { maxItems: MAX_PROPERTY_FILTERS },
          ),
        ),
        /** As a query's. */
        filter: Type.Optional(Type.Unknown()),
        /** Of what is sampled: probes that measure the evaluator itself. */
        probeRate: Type.Optional(Percent),
      },
      closed,
    ),
  },
  closed,
);
export type OnlineEvaluatorBody = Static<typeof OnlineEvaluatorBody>;

/** A run may be bounded, but no bound is larger than what a database holds. */
const MAX_RUN_REQUESTS = 1_000_000_000;

export const RunBody = Type.Object(
  {
    filter: Type.Unknown(),
    /** How many requests are scheduled at most: the newest. */
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RUN_REQUESTS })),
    /** Counts and estimates only. */
    dryRun: Type.Optional(Type.Boolean()),
    /** Many records in one sandbox child. */
    batch: Type.Optional(Type.Boolean()),
  },
  closed,
);

export const EvaluationQueryBody = Type.Object(
  {
    evaluatorId: Type.Optional(Type.String()),
    version: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
    requestId: Type.Optional(Type.String()),
    runId: Type.Optional(Type.String()),
    state: Type.Optional(oneOf(EVALUATION_STATES)),
    errorCode: Type.Optional(Type.String()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  },
  closed,
);
export type EvaluationQueryBody = Static<typeof EvaluationQueryBody>;

const TestInputBody = Type.Object(
  {
    /** A call and its answer: JSON, or a string of JSON. */
    inputBody: Type.Unknown(),
    outputBody: Type.Unknown(),
    /** Prompt variables. */
    inputs: Type.Optional(Type.Object({})),
  },
  closed,
);
const EvaluatorName = Type.Optional(Type.String());

export const LlmTestBody = Type.Object(
  {
    evaluatorConfig: Type.Object(
      {
        evaluator_scoring_type: oneOf(['LLM-BOOLEAN', 'LLM-CHOICE', 'LLM-RANGE'] as const),
        evaluator_llm_template: Type.Unknown(),
      },
      closed,
    ),
    testInput: TestInputBody,
    evaluatorName: EvaluatorName,
  },
  closed,
);

export const PythonTestBody = Type.Object(
  {
    code: Type.String(),
    limits: Type.Optional(CodeLimits),
    testInput: TestInputBody,
    evaluatorName: EvaluatorName,
  },
  closed,
);

export const ExternalTestBody = Type.Object(
  { external_config: Type.Unknown(), testInput: TestInputBody, evaluatorName: EvaluatorName },
  closed,
);
export type TestInputBody = Static<typeof TestInputBody>;

export const newEvaluatorChecker: Checker<typeof NewEvaluatorBody> = Compile(NewEvaluatorBody);
export const evaluatorChangeChecker: Checker<typeof EvaluatorChangeBody> = Compile(EvaluatorChangeBody);
export const evaluatorQueryChecker: Checker<typeof EvaluatorQueryBody> = Compile(EvaluatorQueryBody);
export const onlineEvaluatorChecker: Checker<typeof OnlineEvaluatorBody> = Compile(OnlineEvaluatorBody);
export const runChecker: Checker<typeof RunBody> = Compile(RunBody);
export const evaluationQueryChecker: Checker<typeof EvaluationQueryBody> = Compile(EvaluationQueryBody);
export const llmTestChecker: Checker<typeof LlmTestBody> = Compile(LlmTestBody);
export const pythonTestChecker: Checker<typeof PythonTestBody> = Compile(PythonTestBody);
export const externalTestChecker: Checker<typeof ExternalTestBody> = Compile(ExternalTestBody);
