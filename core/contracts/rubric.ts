/** Rubrics: evaluators whose one call of a judge gives the scores of several other evaluators, its criteria. */
import { type Static, Type } from '@sinclair/typebox';
import { closed } from './shapes.ts';

/** More criteria in one call, and judges begin to repeat themselves. */
const CRITERIA = { min: 2, max: 20 } as const;

const CriterionReference = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 100, description: 'The id of an evaluator' }),
    version: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Default: the current one' }),
    ),
  },
  closed,
);

/** The criteria of a rubric as callers give them. */
export const CriteriaShape = Type.Array(CriterionReference, {
  minItems: CRITERIA.min,
  maxItems: CRITERIA.max,
  description: 'Evaluators of the types LLM-BOOLEAN, LLM-CHOICE and LLM-RANGE',
});

/** The criteria of a rubric as they are stored: each in one version. */
export type CriterionReference = Required<Static<typeof CriterionReference>>;
