/** Experiments: what the management API takes and shows, and what the evaluators read of one. */
import { type Static, Type } from '@sinclair/typebox';
import { CLUSTER_SOURCES, EXPECTED_SOURCES, MAX_SAMPLE, RequestIds, Sample } from './dataset-sources.ts';
import { filterOrQ } from './filter-or-q.ts';
import { GateRules } from './gate.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

/** Runs of one experiment: items times repetitions. */
export const MAX_RUNS = 100_000;
/** Experiments of one organization that run at the same time: they share the places of the evaluators. */
export const MAX_RUNNING_EXPERIMENTS = 20;
const MAX_REPETITIONS = 20;
const MAX_CONCURRENCY = 64;
const DEFAULT_CONCURRENCY = 8;
const MAX_EVALUATORS = 20;

export const EXPERIMENT_STATES = ['running', 'paused', 'cancelled', 'budget', 'completed'] as const;
export type ExperimentState = (typeof EXPERIMENT_STATES)[number];

export const RUN_STATES = ['pending', 'running', 'completed', 'error', 'skipped'] as const;
export type ExperimentRunState = (typeof RUN_STATES)[number];

/** An id in a body. The API answers a text that cannot be an id as an unknown one. */
const Id = Type.String({ minLength: 1, maxLength: 200 });
const Model = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'As in a call: an id, provider/model, or a list with commas',
});

const ModelTarget = Type.Object(
  {
    kind: Type.Literal('model'),
    model: Model,
    parameters: Type.Optional(
      Type.Object({}, { description: 'Members that replace those of the item, such as temperature' }),
    ),
  },
  { ...closed, description: "The item's request with another model" },
);
const PromptTarget = Type.Object(
  {
    kind: Type.Literal('prompt'),
    promptId: Id,
    versionId: Type.Optional(Id),
    environment: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    model: Type.Optional(Model),
  },
  { ...closed, description: 'A stored prompt, filled with the inputs of the item' },
);
const ReplayTarget = Type.Object(
  {
    kind: Type.Literal('replay'),
    overrides: Type.Optional(
      Type.Object({}, { description: 'Members that replace those of the item; null removes one' }),
    ),
  },
  { ...closed, description: "The item's request as it is, save for the overrides" },
);
const RecordedTarget = Type.Object(
  { kind: Type.Literal('recorded') },
  {
    ...closed,
    description:
      'The answers that are in the log, of items made from requests: nothing is called, and nothing costs',
  },
);
const ExternalTarget = Type.Object(
  { kind: Type.Literal('external') },
  { ...closed, description: 'A job of yours posts the answers' },
);

export const Target = Type.Union([ModelTarget, PromptTarget, ReplayTarget, RecordedTarget, ExternalTarget]);
export type Target = Static<typeof Target>;

const FromLog = Type.Object(
  {
    ...filterOrQ,
    requestIds: Type.Optional(RequestIds),
    sample: Type.Optional(Sample),
    expected: Type.Optional(OneOf(EXPECTED_SOURCES)),
    cluster: Type.Optional(OneOf(CLUSTER_SOURCES)),
    datasetName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Default: the name of the experiment, with the time',
      }),
    ),
  },
  {
    ...closed,
    description: `Logged requests, in place of datasetId: a dataset is made of them. At most ${MAX_SAMPLE}`,
  },
);
export type FromLog = Static<typeof FromLog>;

const EarlyStop = Type.Object(
  {
    evaluatorId: Type.Optional(Id),
    margin: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1e6,
        description: 'A difference that is certainly smaller ends it as well, as futile',
      }),
    ),
  },
  {
    ...closed,
    description:
      'Ends the experiment once the difference from its baseline is certain by one evaluator, the first by default. It is looked at after each 25 pairs, so that the looks together raise a false alarm in 5 % at most',
  },
);

/** The rule by which an experiment may end early, as it is stored. */
export type EarlyStopRule = {
  evaluatorId: string;
  margin: number | null;
  /** The smallest and largest score; null: they are not known. */
  range: { low: number; high: number } | null;
};

const STOPS = ['better', 'worse', 'futile'] as const;
export type Stop = (typeof STOPS)[number];

export const ExperimentBody = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '\\S',
      rule: 'must hold a character that is not a space',
    }),
    datasetId: Type.Optional(Id),
    datasetVersion: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Default: the newest' }),
    ),
    from: Type.Optional(FromLog),
    split: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Default: all items' })),
    target: Target,
    baseline: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'What it is compared with where nothing else is named: an experiment over the same dataset, or "recorded", which makes one of the answers in the log',
      }),
    ),
    evaluatorIds: Type.Optional(
      Type.Array(Id, {
        maxItems: MAX_EVALUATORS,
        description: 'Evaluators that grade each answer, in the versions of now',
      }),
    ),
    repetitions: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_REPETITIONS, default: 1 })),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: 'Of the order of the items: two experiments with the same have the same order',
      }),
    ),
    concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_CONCURRENCY,
        default: DEFAULT_CONCURRENCY,
        description: 'Calls at a time',
      }),
    ),
    cache: Type.Optional(
      Type.Boolean({ default: false, description: "Whether answers may come from the gateway's cache" }),
    ),
    maxCost: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1e6,
        description: 'US dollars, of answers and judges together',
      }),
    ),
    earlyStop: Type.Optional(EarlyStop),
    rules: Type.Optional(GateRules),
    reuse: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Returns the newest experiment that asks the same, and runs or is completed without errors, if there is one',
      }),
    ),
    dryRun: Type.Optional(
      Type.Boolean({ default: false, description: 'True: nothing is made; the answer is an estimate' }),
    ),
    git: Type.Optional(
      Type.Object(
        {
          sha: Type.Optional(Type.String({ maxLength: 100 })),
          branch: Type.Optional(Type.String({ maxLength: 500 })),
          url: Type.Optional(Type.String({ maxLength: 2_000 })),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type ExperimentBody = Static<typeof ExperimentBody>;

export const ExperimentQueryBody = Type.Object(
  {
    search: Type.Optional(Type.String({ maxLength: 1_000, description: 'A part of the name, in any case' })),
    datasetId: Type.Optional(Id),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    after: Type.Optional(Type.String({ maxLength: 200, description: 'The `next` of the page before' })),
  },
  closed,
);
export type ExperimentQueryBody = Static<typeof ExperimentQueryBody>;

export const ExperimentRunsBody = Type.Object(
  {
    state: Type.Optional(OneOf(RUN_STATES)),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    after: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAX_RUNS, description: 'The `next` of the page before' }),
    ),
  },
  closed,
);
export type ExperimentRunsBody = Static<typeof ExperimentRunsBody>;

export const ExperimentJson = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    dataset_id: Type.String(),
    dataset_version: Type.Integer(),
    split: Nullable(Type.String()),
    target: Type.Unknown({ description: 'As it was given; an environment with the version that it named' }),
    baseline_id: Nullable(Type.String(), 'The experiment that it is compared with where none is named'),
    evaluators: Type.Array(Type.Object({ id: Type.String(), version: Type.Integer() }, closed)),
    repetitions: Type.Integer(),
    seed: Type.Integer(),
    concurrency: Type.Integer(),
    cache: Type.Boolean(),
    max_cost_usd: Nullable(Type.Number(), 'null: no limit'),
    cost_usd: Type.Number({ description: 'Of the answers, by their records' }),
    judge_cost_usd: Type.Number({ description: 'Of the judges, as they report it' }),
    state: OneOf(EXPERIMENT_STATES),
    paused_reason: Nullable(Type.String(), 'Why it paused by itself; null: it did not'),
    rules: Nullable(Type.Array(Type.String()), 'What its gate asks for'),
    early_stop: Nullable(
      Type.Object({ evaluator_id: Type.String(), margin: Nullable(Type.Number()) }, closed),
      'By what it may end early',
    ),
    stopped: Nullable(OneOf(STOPS), 'What was certain when it ended early'),
    git: Nullable(Type.Unknown()),
    runs: Type.Integer({
      description: 'Answers that it needs; the next five say how many are in which state',
    }),
    pending: Type.Integer(),
    running: Type.Integer(),
    completed: Type.Integer(),
    failed: Type.Integer(),
    skipped: Type.Integer(),
    ungraded: Type.Integer({ description: 'Evaluations of its answers that are not done yet' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: Nullable(Timestamp, 'null: some answers are still to come'),
  },
  { ...closed, $id: 'Experiment' },
);
export type ExperimentJson = Static<typeof ExperimentJson>;

export const ExperimentListJson = Type.Object(
  { experiments: Type.Array(ExperimentJson), next: Nullable(Type.String(), 'null at the end') },
  closed,
);
export type ExperimentListJson = Static<typeof ExperimentListJson>;

export const ExperimentRunJson = Type.Object(
  {
    item_id: Type.String(),
    repetition: Type.Integer(),
    position: Type.Integer({ description: 'In the order of the seed' }),
    state: OneOf(RUN_STATES),
    request_id: Nullable(Type.String(), 'The record of the answer'),
    attempts: Type.Integer(),
    error_code: Nullable(Type.String()),
    error_message: Nullable(Type.String()),
    finished_at: Nullable(Timestamp),
  },
  { ...closed, $id: 'ExperimentRun' },
);
export type ExperimentRunJson = Static<typeof ExperimentRunJson>;

export const ExperimentRunsJson = Type.Object(
  { runs: Type.Array(ExperimentRunJson), next: Nullable(Type.Integer(), 'null at the end') },
  closed,
);
export type ExperimentRunsJson = Static<typeof ExperimentRunsJson>;
