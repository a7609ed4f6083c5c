/** The form of a score: the tool that it is submitted by, its schema, and the same in words. */
import type { JsonObject } from '#core/json/mod.ts';
import type { Scale } from './scale.ts';

/** The same for all evaluators: their names may hold spaces, quotes and emoji, which tool names must not. */
export const TOOL_NAME = 'submit_verdict';

/** Tells the judge to submit its verdict by the tool. */
export const TOOL_RULE = `Call the function ${TOOL_NAME} exactly once, and write nothing else.`;

/**
 * Returns the schema of one verdict. The reasoning comes first, so that the score follows from it and not the other way round.
 * The bounds of a range are given in words: several providers refuse schemas with `minimum`, and the score is checked anyway.
 */
export function verdictSchema(scale: Scale): JsonObject {
  return {
    type: 'object',
    properties: {
      reasoning: { type: 'string', description: 'Why, in a few sentences, before the score is decided.' },
      score: scoreSchema(scale),
    },
    required: ['reasoning', 'score'],
    additionalProperties: false,
  };
}

function scoreSchema(scale: Scale): JsonObject {
  const description = scoreRule(scale);
  switch (scale.kind) {
    case 'boolean':
      return { type: 'boolean', description };
    case 'choice':
      return { type: 'string', enum: scale.choices.map((choice) => choice.description), description };
    case 'range':
      return { type: 'number', description };
  }
}

function scoreRule(scale: Scale): string {
  switch (scale.kind) {
    case 'boolean':
      return 'true when the criterion is met, false when it is not';
    case 'choice':
      return 'the choice that fits best, in exactly these words';
    case 'range':
      return `a number from ${scale.min} to ${scale.max}, both included`;
  }
}

/** Returns what a score may be, as lines of the judge's rules. */
export function scoreRules(scale: Scale): string[] {
  const rule = `The score is ${scoreRule(scale)}.`;
  if (scale.kind !== 'choice') return [rule];
  const choices = scale.choices.map(({ description }) => `- ${JSON.stringify(description)}`);
  return [rule, 'The choices are:', ...choices];
}

/** Returns a verdict in words, as JSON. */
export function verdictInWords(scale: Scale): string {
  const score = { boolean: 'true or false', choice: '"one of the choices"', range: 'a number' }[scale.kind];
  return `{"reasoning": "why, in a few sentences", "score": ${score}}`;
}
