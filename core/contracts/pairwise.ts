/** Pairwise judging of two experiments: what starts it, and what it finds. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable } from './shapes.ts';

const MAX_COST_USD = 1_000_000;
const Id = Type.String({ minLength: 1, maxLength: 200 });

/** The body that starts it. */
export const PairwiseBody = Type.Object(
  {
    baseline: Id,
    candidate: Id,
    maxCost: Type.Optional(
      Type.Number({
        minimum: 0.000001,
        maximum: MAX_COST_USD,
        description: 'USD that its judges may cost; then it ends',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'Counts and estimates only' })),
  },
  closed,
);
export type PairwiseBody = Static<typeof PairwiseBody>;

/** The estimate of a pairwise run. */
export const PairwiseDryRunJson = Type.Object(
  {
    pairs: Type.Integer({ description: 'Items that both experiments have an answer of' }),
    judgments: Type.Integer({ description: 'Two for each pair, one in each order' }),
    already_judged: Type.Integer({
      description: 'Those of them that this version has made: they are not made again',
    }),
    estimated_cost_usd: Nullable(
      Type.Number(),
      'By what judgments of this evaluator cost so far, else by the tokens of the answers; null: not known',
    ),
  },
  { ...closed, $id: 'PairwiseDryRun' },
);
export type PairwiseDryRunJson = Static<typeof PairwiseDryRunJson>;

/** The share of pairs in which a judge prefers the candidate. */
export const WinRateJson = Type.Object(
  {
    evaluator_id: Type.String(),
    name: Type.String(),
    version: Type.Integer(),
    pairs: Type.Integer({ description: 'Judged in both orders' }),
    incomplete: Type.Integer({ description: 'Pairs of which a judgment failed, or is still to come' }),
    wins: Type.Integer({ description: 'Pairs of which the candidate is preferred in both orders' }),
    ties: Type.Integer({ description: 'Ties in both orders, and pairs whose orders disagree' }),
    losses: Type.Integer(),
    rate: Nullable(Type.Number(), 'The share of wins, and half of that of ties'),
    interval: Nullable(Type.Object({ low: Type.Number(), high: Type.Number() }, closed), 'Of the rate'),
    p_value: Nullable(Type.Number(), 'That wins and losses are alike (sign test, mid-p)'),
    position: Type.Object(
      {
        inconsistent: Type.Integer({ description: 'Pairs whose orders disagree' }),
        first: Type.Integer({ description: 'Judgments that prefer the answer that came first' }),
        second: Type.Integer(),
        first_rate: Nullable(
          Type.Object({ value: Type.Number(), low: Type.Number(), high: Type.Number() }, closed),
          'Of the judgments without a tie, with its 95 % interval: 0.5 for a judge without a bias for a position',
        ),
      },
      closed,
    ),
  },
  { ...closed, $id: 'WinRate' },
);
export type WinRateJson = Static<typeof WinRateJson>;
