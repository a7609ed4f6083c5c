/** Comparisons of experiments: what the management API takes and shows. */
import { type Static, Type } from '@sinclair/typebox';
import { WinRateJson } from './pairwise.ts';
import { closed, Nullable, OneOf } from './shapes.ts';

/** Experiments that are compared with one baseline at a time. */
const MAX_CANDIDATES = 3;
const MAX_REGRESSIONS = 200;
const DEFAULT_REGRESSIONS = 20;
/** Evaluators of an experiment, and the other metrics. */
const MAX_METRICS = 24;

/** Metrics beside the scores of evaluators. Less is better in all of them. */
export const BUILT_IN_METRICS = ['cost_usd', 'latency_ms', 'tokens', 'errors'] as const;
export type BuiltInMetric = (typeof BUILT_IN_METRICS)[number];

export const CLUSTERS = ['cluster', 'session', 'user', 'none'] as const;
export type ClusterKind = (typeof CLUSTERS)[number];

const Id = Type.String({ minLength: 1, maxLength: 200 });

export const CompareBody = Type.Object(
  {
    baseline: Id,
    candidates: Type.Array(Id, { minItems: 1, maxItems: MAX_CANDIDATES }),
    metrics: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        minItems: 1,
        maxItems: MAX_METRICS,
        description:
          'Names or ids of evaluators, and of the other metrics; default: all. p values are adjusted for these alone',
      }),
    ),
    alpha: Type.Optional(
      Type.Number({
        minimum: 0.001,
        maximum: 0.2,
        default: 0.05,
        description: 'One less the confidence of intervals, and the largest p of a difference that counts',
      }),
    ),
    margin: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1e6,
        description:
          "The largest loss of a score that is accepted, in the score's units: with it a verdict can be not_worse",
      }),
    ),
    cluster: Type.Optional(
      Type.Unsafe<ClusterKind>({
        ...OneOf(CLUSTERS),
        description:
          'What items have in common that are not independent: the cluster of the item (default), or the session or the user of the request that it was made from',
      }),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2 ** 32 - 1,
        default: 0,
        description: 'Of what is drawn by chance',
      }),
    ),
    regressions: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_REGRESSIONS,
        default: DEFAULT_REGRESSIONS,
        description: 'Items that are listed for each metric, the largest loss first',
      }),
    ),
  },
  closed,
);
export type CompareBody = Static<typeof CompareBody>;

/** The last two are of experiments that may end early: they hold at each look. */
const INTERVAL_METHODS = ['newcombe', 'bca', 'unanimous', 'bounded', 'betting', 'asymptotic'] as const;

const IntervalJson = Type.Object(
  { low: Type.Number(), high: Type.Number(), method: OneOf(INTERVAL_METHODS) },
  closed,
);

const RegressionJson = Type.Object(
  {
    item_id: Type.String(),
    external_id: Nullable(Type.String()),
    baseline: Type.Number({ description: 'Mean of the repetitions' }),
    candidate: Type.Number(),
    difference: Type.Number({ description: 'Candidate less baseline' }),
    baseline_request_id: Nullable(Type.String(), 'Of the first repetition'),
    candidate_request_id: Nullable(Type.String()),
  },
  closed,
);

export const MetricComparisonJson = Type.Object(
  {
    metric: Type.String({ description: 'score, or one of the other metrics' }),
    evaluator_id: Nullable(Type.String(), 'Of a score'),
    name: Type.String(),
    kind: OneOf(['binary', 'ordinal', 'numeric'] as const),
    direction: OneOf(['higher', 'lower'] as const),
    pairs: Type.Integer({ description: 'Items that both have' }),
    groups: Type.Integer({ description: 'Independent groups: clusters, and items without one' }),
    missing_baseline: Type.Integer(),
    missing_candidate: Type.Integer(),
    ungraded_baseline: Type.Integer({
      description:
        'Answers without a score, such as those whose evaluation failed; 0 for other metrics than scores',
    }),
    ungraded_candidate: Type.Integer(),
    baseline_mean: Nullable(Type.Number()),
    candidate_mean: Nullable(Type.Number()),
    candidate_alone: Type.Object(
      {
        items: Type.Integer(),
        mean: Nullable(Type.Number()),
        ungraded: Type.Integer({ description: 'As `ungraded_candidate`' }),
      },
      {
        ...closed,
        description:
          'All items that the candidate has, also those that the baseline lacks or has differently',
      },
    ),
    difference: Nullable(Type.Number(), 'Candidate less baseline, the mean over items'),
    interval: Nullable(IntervalJson, 'Of the difference, not adjusted for other metrics'),
    interval_note: Nullable(Type.String(), 'Why there is none'),
    p_value: Nullable(Type.Number()),
    p_method: Nullable(Type.String()),
    adjusted_p_value: Nullable(Type.Number(), "By Holm's method, over the metrics of this candidate"),
    table: Nullable(
      Type.Object(
        {
          both: Type.Integer(),
          baseline_only: Type.Integer(),
          candidate_only: Type.Integer(),
          neither: Type.Integer(),
        },
        closed,
      ),
      'Of a binary metric that was measured once an item',
    ),
    wilcoxon: Nullable(
      Type.Object(
        {
          p_value: Type.Number(),
          wins: Type.Integer(),
          ties: Type.Integer(),
          losses: Type.Integer(),
        },
        closed,
      ),
      'Of an ordinal metric',
    ),
    minimum_detectable: Nullable(
      Type.Number(),
      'The smallest difference that so many pairs find with a power of 80 %',
    ),
    corrected: Nullable(
      Type.Object({ difference: Type.Number(), low: Type.Number(), high: Type.Number() }, closed),
      'The difference that people would have found, by how often they agree with an evaluator that passes or fails; it decides no verdict',
    ),
    corrected_note: Nullable(Type.String(), 'Why there is none'),
    verdict: OneOf(['better', 'worse', 'not_worse', 'undecided'] as const),
    regressions: Type.Array(RegressionJson),
  },
  { ...closed, $id: 'MetricComparison' },
);
export type MetricComparisonJson = Static<typeof MetricComparisonJson>;

const ExperimentOfComparison = Type.Object({ id: Type.String(), name: Type.String() }, closed);

export const ComparisonJson = Type.Object(
  {
    baseline: ExperimentOfComparison,
    alpha: Type.Number(),
    margin: Nullable(Type.Number()),
    cluster: OneOf(CLUSTERS),
    candidates: Type.Array(
      Type.Object(
        {
          ...ExperimentOfComparison.properties,
          metrics: Type.Array(MetricComparisonJson),
          left_out: Type.Array(
            Type.Object({ evaluator_id: Type.String(), name: Type.String(), reason: Type.String() }, closed),
            { description: 'Evaluators whose scores are not comparable' },
          ),
          changed_items: Type.Integer({
            description:
              'Items that ask or expect another thing in the dataset versions of the two experiments: they are left out',
          }),
          win_rates: Type.Array(WinRateJson, {
            description:
              'Of the evaluators that have judged the two in pairs, each in its latest version that did',
          }),
        },
        closed,
      ),
    ),
  },
  { ...closed, $id: 'Comparison' },
);
export type ComparisonJson = Static<typeof ComparisonJson>;
