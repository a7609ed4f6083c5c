/** Examples of a judge: answers with the verdicts that people want. */
import { type Static, Type } from '@sinclair/typebox';
import { type Choice, findChoice } from './categories.ts';
import { quoteValue } from './check.ts';
import { invalidField } from './invalid.ts';
import { closed } from './shapes.ts';

const MAX_EXAMPLES = 20;
/** UTF-8 bytes of all texts together: as many as a prompt may have. A judge is sent them with every call. */
const MAX_EXAMPLES_BYTES = 65_536;

const Example = Type.Object(
  {
    input: Type.String(),
    output: Type.String(),
    score: Type.Optional(
      Type.Union([Type.Number(), Type.Boolean()], {
        description: 'Of LLM-BOOLEAN true, false, 1 or 0; of LLM-RANGE a number from min to max',
      }),
    ),
    label: Type.Optional(Type.String({ description: 'Of LLM-CHOICE: one of its choices' })),
    reasoning: Type.Optional(Type.String()),
  },
  closed,
);
/** One answer with its verdict: a label for a judge with choices, a score for others. */
export type Example = Static<typeof Example>;

export const Examples = Type.Array(Example, { maxItems: MAX_EXAMPLES });

/** The verdicts that a judge may give. */
export type ExampleScale = { choices?: readonly Choice[]; min?: number; max?: number };

/**
 * Checks the rules that the schema of examples cannot express.
 * @throws AssayError invalid_body
 */
export function checkExamples(examples: readonly Example[], scale: ExampleScale, at: string): void {
  let bytes = 0;
  for (const [index, example] of examples.entries()) {
    if (scale.choices === undefined) checkScore(example, scale, `${at}.${index}`);
    else checkLabel(example, scale.choices, `${at}.${index}`);
    const { input, output, label = '', reasoning = '' } = example;
    bytes += Buffer.byteLength(input + output + label + reasoning);
  }
  if (bytes > MAX_EXAMPLES_BYTES) {
    throw invalidField(
      at,
      `must have at most ${MAX_EXAMPLES_BYTES} bytes as UTF-8 in all texts together, but has ${bytes}`,
    );
  }
}

function checkLabel({ label, score }: Example, choices: readonly Choice[], at: string): void {
  if (score !== undefined)
    throw invalidField(`${at}.score`, 'does not belong to a judge with choices: give label');
  if (label === undefined) throw invalidField(`${at}.label`, 'is required');
  if (findChoice(label, choices) !== null) return;
  const allowed = choices.map(({ description }) => quoteValue(description)).join(', ');
  throw invalidField(`${at}.label`, `must be one of ${allowed}, but is ${quoteValue(label)}`);
}

function checkScore({ label, score }: Example, { min, max }: ExampleScale, at: string): void {
  if (label !== undefined)
    throw invalidField(`${at}.label`, 'belongs to a judge with choices only: give score');
  if (score === undefined) throw invalidField(`${at}.score`, 'is required');
  const isBoolean = min === undefined || max === undefined;
  if (isBoolean) {
    if (typeof score === 'boolean' || score === 0 || score === 1) return;
    throw invalidField(`${at}.score`, `must be true, false, 1 or 0, but is ${score}`);
  }
  if (typeof score === 'number' && score >= min && score <= max) return;
  throw invalidField(`${at}.score`, `must be a number from ${min} to ${max}, but is ${score}`);
}
