/** The estimate of an experiment before it is made: its cost, its time, and the differences that it could find. */
import { type Static, Type } from '@sinclair/typebox';
import { SkippedRequests } from './dataset-sources.ts';
import { closed, Nullable } from './shapes.ts';

export const ExperimentEstimateJson = Type.Object(
  {
    items: Type.Integer(),
    skipped: Type.Array(SkippedRequests, {
      description: 'Requests that would not become items, with `from`',
    }),
    runs: Type.Integer({ description: 'Calls that would be made; of recorded answers none are' }),
    answers_cost_usd: Nullable(
      Type.Number(),
      'By the tokens of the requests that the items were made from, else by the length of their texts and 500 tokens of answer; null: no price of the model is known',
    ),
    at_most_usd: Nullable(
      Type.Number(),
      'What the budget reserves for the calls and the judgments of their answers; null: a price is not known',
    ),
    judge_cost_usd: Nullable(
      Type.Number(),
      'By what the latest evaluations of these versions cost, and where there are none by the lengths of their prompts and of what they judge; null: a price of a judge is not known',
    ),
    duration_ms: Nullable(
      Type.Number(),
      'Of the answers, by the latency of the requests that the items were made from; null: not known',
    ),
    groups: Type.Integer({ description: 'Independent groups: clusters, and items without one' }),
    detectable: Type.Array(
      Type.Object(
        {
          evaluator_id: Type.String(),
          name: Type.String(),
          difference: Nullable(
            Type.Number(),
            'The smallest difference of means that is found four times in five; null: too few items',
          ),
          scores: Type.Integer({
            description:
              'The latest scores of its version whose spread it is computed from; with fewer than 20, or when all are the same, it is 0, and the widest spread on its scale is assumed, from 0 to 1 where it names none',
          }),
        },
        closed,
      ),
      {
        description:
          'Of each evaluator, in place of a rubric of each of its criteria, as if the two answers to an item had nothing in common: in truth it is less',
      },
    ),
  },
  { ...closed, $id: 'ExperimentEstimate' },
);
export type ExperimentEstimateJson = Static<typeof ExperimentEstimateJson>;
