/** Juries: several models that judge the same answer, and the rule by which their scores become one. */
import { type Static, Type } from '@sinclair/typebox';
import { quoteValue } from './check.ts';
import { invalidField } from './invalid.ts';
import { requireNotBlank } from './read-value.ts';
import { closed, OneOf } from './shapes.ts';

/** `majority`: the score that more than half give. `median`: of choices, and of an even number, the lower middle one. */
export const JURY_RULES = ['majority', 'median', 'mean'] as const;
export type JuryRule = (typeof JURY_RULES)[number];

/** Members beside the evaluator's `model`: with it they are 2 to 7. */
const MAX_FURTHER_MODELS = 6;
/** The score of one member is no jury's. */
const LEAST_QUORUM = 2;
/** Characters, as of an evaluator's model. */
const MAX_MODEL_LENGTH = 200;

/** A jury as it is stored: `rule` and `quorum` are always there. */
export type Jury = { models: string[]; rule: JuryRule; quorum: number };

/** A jury as callers give it. */
export const JuryShape = Type.Object(
  {
    models: Type.Array(Type.String({ maxLength: MAX_MODEL_LENGTH }), {
      minItems: 1,
      maxItems: MAX_FURTHER_MODELS,
      description: 'The members beside `model`, all different',
    }),
    rule: Type.Optional(OneOf(JURY_RULES)),
    quorum: Type.Optional(
      Type.Integer({
        minimum: LEAST_QUORUM,
        maximum: MAX_FURTHER_MODELS + 1,
        description: 'Members that must answer; default: more than half',
      }),
    ),
  },
  closed,
);

/** Returns the models of all members, the evaluator's own first. */
export function membersOf({ model, jury }: { model: string; jury?: Jury }): string[] {
  return [model, ...(jury?.models ?? [])];
}

/**
 * Checks the rules that the schema of a jury cannot express, and fills in what was left out.
 * @param rules the rules that fit the evaluator's scores, the default first
 * @throws AssayError invalid_body
 */
export function readJury(
  given: Static<typeof JuryShape>,
  { model, rules, at }: { model: string; rules: readonly JuryRule[]; at: string },
): Jury {
  const models = given.models.map((one, index) => requireNotBlank(one, `${at}.models.${index}`));
  const members = [model, ...models];
  const twin = models.findIndex((one, index) => members.indexOf(one) !== index + 1);
  if (twin !== -1) {
    throw invalidField(
      `${at}.models.${twin}`,
      `names ${quoteValue(models[twin])}, which is a member already`,
    );
  }
  const rule = given.rule ?? rules[0]!;
  if (!rules.includes(rule)) {
    throw invalidField(`${at}.rule`, `must be ${rules.join(' or ')} for these scores, but is ${rule}`);
  }
  const quorum = given.quorum ?? Math.floor(members.length / 2) + 1;
  if (quorum > members.length) {
    throw invalidField(`${at}.quorum`, `must be at most ${members.length}, the members, but is ${quorum}`);
  }
  return { models, rule, quorum };
}
