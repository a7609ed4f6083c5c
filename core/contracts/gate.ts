/** Gates: rules that an experiment must meet, such as in CI. What the management API takes and shows. */
import { type Static, Type } from '@sinclair/typebox';
import { CLUSTERS, type ClusterKind, ComparisonJson } from './comparison.ts';
import { closed, OneOf } from './shapes.ts';

/** Rules of one gate, and the characters of each. */
const MAX_RULES = 20;
const MAX_RULE_LENGTH = 300;

const UNDECIDED = ['fail', 'pass'] as const;
export const RULE_OUTCOMES = ['pass', 'fail', 'undecided'] as const;
export type RuleOutcome = (typeof RULE_OUTCOMES)[number];

export const GateRules = Type.Array(Type.String({ minLength: 1, maxLength: MAX_RULE_LENGTH }), {
  minItems: 1,
  maxItems: MAX_RULES,
  description:
    'Each a metric and what it must be: "helpful not-worse 0.02", "helpful better", "cost <= 1.1x", "errors = 0", "ungraded <= 1%". Without a rule on errors there must be none, and without one on ungraded no rule on scores passes while an answer has no grade',
});

export const GateBody = Type.Object(
  {
    rules: Type.Optional(GateRules),
    baseline: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'An experiment; default: the one that the experiment names',
      }),
    ),
    alpha: Type.Optional(Type.Number({ minimum: 0.001, maximum: 0.2, default: 0.05 })),
    cluster: Type.Optional(Type.Unsafe<ClusterKind>(OneOf(CLUSTERS))),
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1, default: 0 })),
    undecided: Type.Optional(
      Type.Unsafe<(typeof UNDECIDED)[number]>({
        ...OneOf(UNDECIDED),
        default: 'fail',
        description: 'What a rule that the data do not decide is in `junit`',
      }),
    ),
  },
  closed,
);
export type GateBody = Static<typeof GateBody>;

export const RuleResultJson = Type.Object(
  {
    rule: Type.String(),
    outcome: OneOf(RULE_OUTCOMES),
    sentence: Type.String({ description: 'Why, for a person' }),
  },
  closed,
);
export type RuleResultJson = Static<typeof RuleResultJson>;

export const GateJson = Type.Object(
  {
    outcome: Type.Unsafe<RuleOutcome>({
      ...OneOf(RULE_OUTCOMES),
      description: 'fail: a rule failed; undecided: none failed, and the data do not decide one',
    }),
    rules: Type.Array(RuleResultJson),
    comparison: ComparisonJson,
    failed: Type.Integer({ description: 'Answers of the experiment that ended in an error' }),
    runs: Type.Integer(),
    skipped: Type.Integer({
      description: 'Items that had nothing to ask, such as those without an answer in the log',
    }),
    junit: Type.String({ description: 'The rules as test cases, in XML' }),
    markdown: Type.String({ description: 'A summary, such as for a pull request' }),
  },
  { ...closed, $id: 'Gate' },
);
export type GateJson = Static<typeof GateJson>;
