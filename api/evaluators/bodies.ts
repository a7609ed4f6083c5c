/** The bodies of `/v1/evaluator` and `/v1/evaluation`, as far as a schema can express their rules. */
import { type Static, Type } from '@sinclair/typebox';
import { Categories } from '#core/contracts/categories.ts';
import { CodeLimits } from '#core/contracts/evaluator.ts';
import { FilterShape, filterOrQ, QueryText } from '#core/contracts/filter-or-q.ts';
import {
  DEFAULT_LIMIT,
  MAX_LIMIT,
  MAX_PROPERTY_NAME_LENGTH,
  MAX_PROPERTY_VALUE_LENGTH,
} from '#core/contracts/query.ts';
import { closed, Nullable, OneOf } from '#core/contracts/shapes.ts';
import {
  EVALUATION_STATES,
  JUDGE_TYPES,
  RETRIED_FROM,
  SCOPES,
  SCORING_TYPES,
} from '#core/evaluations/mod.ts';

export { DEFAULT_LIMIT };

const ScoringType = OneOf(SCORING_TYPES);
const Scope = {
  ...OneOf(SCOPES),
  description: 'What it scores: each request, or each whole session. Default: request',
};
/** Any value here: its rules depend on the scoring type, and core/contracts/evaluator.ts checks them. */
const Template = Type.Optional(Type.Unknown());
/** More than judges cost anyone in a day, and small enough that a number is exact to the nano-dollar. */
const MAX_BUDGET_USD = 1_000_000;
const Budget = Type.Optional(
  Nullable(Type.Number({ minimum: 0, maximum: MAX_BUDGET_USD }), 'USD a day (UTC); null: no limit'),
);

const Threshold = Type.Optional(
  Nullable(
    Type.Number(),
    'Answers pass from this score on; null: from the middle of the scores that the evaluator can give, or 0.5',
  ),
);

/** Members of both bodies, beside the name and the type. */
const settings = {
  scope: Type.Optional(Scope),
  llm_template: Template,
  code_template: Template,
  external_config: Template,
  daily_budget_usd: Budget,
  threshold: Threshold,
};

export const NewEvaluatorBody = Type.Object(
  {
    name: Type.String(),
    scoring_type: ScoringType,
    ...settings,
  },
  closed,
);
export type NewEvaluatorBody = Static<typeof NewEvaluatorBody>;

export const EvaluatorChangeBody = Type.Object(
  {
    name: Type.Optional(Type.String()),
    scoring_type: Type.Optional(ScoringType),
    ...settings,
  },
  closed,
);
export type EvaluatorChangeBody = Static<typeof EvaluatorChangeBody>;

/** Each member restricts. */
export const EvaluatorQueryBody = Type.Object(
  {
    name: Type.Optional(Type.String({ description: 'A part of the name, ignoring case' })),
    scoring_type: Type.Optional(ScoringType),
    scope: Type.Optional(Scope),
    isPaused: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type EvaluatorQueryBody = Static<typeof EvaluatorQueryBody>;

/** A share in percent. */
const Percent = Type.Number({ minimum: 0, maximum: 100 });
const MAX_PROPERTY_FILTERS = 20;

/** A day: whoever comes back later begins another session, or has this one evaluated again. */
const MAX_IDLE_SECONDS = 86_400;

const onlineConfig = Type.Object(
  {
    /** Share of the requests that pass the filters. */
    sampleRate: Percent,
    /** Conditions that must all hold. */
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
    filter: Type.Optional(Nullable(FilterShape)),
    q: Type.Optional(QueryText),
    /** Share of the sampled requests with a probe, which measures the evaluator itself. */
    probeRate: Type.Optional(Percent),
    idleSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_IDLE_SECONDS,
        description:
          'Silence after which a session is evaluated; for evaluators of sessions only. Default: 900',
      }),
    ),
  },
  closed,
);

export const OnlineEvaluatorBody = Type.Object({ config: onlineConfig }, closed);
export type OnlineEvaluatorBody = Static<typeof OnlineEvaluatorBody>;

export const OnlineEvaluatorPatch = Type.Object(
  {
    config: Type.Partial(onlineConfig, {
      ...closed,
      minProperties: 1,
      description: 'Absent fields stay as they are; `filter` null is every request',
    }),
  },
  closed,
);
export type OnlineEvaluatorPatch = Static<typeof OnlineEvaluatorPatch>;

/** The largest limit of a run: more requests than a database holds. */
const MAX_RUN_REQUESTS = 1_000_000_000;
/** The largest sample: choosing it sorts its points. */
const MAX_SAMPLE = 1_000_000;

const Sample = Type.Object(
  {
    n: Type.Integer({ minimum: 1, maximum: MAX_SAMPLE, description: 'Requests' }),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Another seed is another sample; without one, it is the sample of online evaluation',
      }),
    ),
  },
  closed,
);

export const RunBody = Type.Object(
  {
    ...filterOrQ,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_RUN_REQUESTS, description: 'At most so many, the newest' }),
    ),
    sample: Type.Optional(Sample),
    maxCost: Type.Optional(
      Type.Number({
        minimum: 0.000001,
        maximum: MAX_BUDGET_USD,
        description: 'USD that its judges may cost; then it ends. Not for PYTHON and EXTERNAL',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'Counts and estimates only' })),
    batch: Type.Optional(Type.Boolean({ description: 'Many records in one sandbox child; PYTHON only' })),
  },
  closed,
);
export type RunBody = Static<typeof RunBody>;

export const EvaluationQueryBody = Type.Object(
  {
    evaluatorId: Type.Optional(Type.String()),
    version: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
    requestId: Type.Optional(Type.String()),
    sessionId: Type.Optional(Type.String({ description: 'Those of evaluators of sessions' })),
    runId: Type.Optional(Type.String()),
    state: Type.Optional(OneOf(EVALUATION_STATES)),
    imported: Type.Optional(
      Type.Boolean({ description: 'True: judgments that were imported; false: the others' }),
    ),
    errorCode: Type.Optional(Type.String()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  },
  closed,
);
export type EvaluationQueryBody = Static<typeof EvaluationQueryBody>;

/** Each member restricts which evaluations of an evaluator are tried again. */
export const EvaluatorRetryBody = Type.Object(
  {
    states: Type.Array(OneOf(RETRIED_FROM), { minItems: 1, maxItems: RETRIED_FROM.length }),
    version: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
    runId: Type.Optional(Type.String({ maxLength: 100 })),
    errorCode: Type.Optional(Type.String({ maxLength: 100 })),
  },
  closed,
);
export type EvaluatorRetryBody = Static<typeof EvaluatorRetryBody>;

const TestInputBody = Type.Object(
  {
    inputBody: Type.Optional(
      Type.Unknown({ description: 'The body of a request: JSON, or a string of JSON' }),
    ),
    outputBody: Type.Optional(Type.Unknown({ description: 'The body of its response: the same' })),
    sessionId: Type.Optional(
      Type.String({ description: 'Instead of the two: a session of the log, scored as a whole' }),
    ),
    inputs: Type.Optional(Type.Object({}, { description: 'Prompt variables' })),
    expected: Type.Optional(Type.Unknown({ description: 'What the answer should have been' })),
  },
  closed,
);
const EvaluatorName = Type.Optional(Type.String());

export const LlmTestBody = Type.Object(
  {
    evaluatorConfig: Type.Object(
      {
        evaluator_scoring_type: OneOf(JUDGE_TYPES),
        evaluator_llm_template: Type.Unknown(),
      },
      closed,
    ),
    testInput: TestInputBody,
    evaluatorName: EvaluatorName,
  },
  closed,
);
export type LlmTestBody = Static<typeof LlmTestBody>;

export const PythonTestBody = Type.Object(
  {
    code: Type.String(),
    categories: Type.Optional(Categories),
    limits: Type.Optional(CodeLimits),
    testInput: TestInputBody,
    evaluatorName: EvaluatorName,
  },
  closed,
);
export type PythonTestBody = Static<typeof PythonTestBody>;

export const ExternalTestBody = Type.Object(
  { external_config: Type.Unknown(), testInput: TestInputBody, evaluatorName: EvaluatorName },
  closed,
);
export type ExternalTestBody = Static<typeof ExternalTestBody>;
export type TestInputBody = Static<typeof TestInputBody>;
