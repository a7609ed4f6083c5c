/** Judgments that were made elsewhere and are imported. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf } from './shapes.ts';

/** Judgments of one call. */
export const MAX_JUDGMENTS = 1_000;
/** Characters of a label, as of categories. */
const MAX_LABEL_LENGTH = 500;
const MAX_MESSAGE_LENGTH = 500;

/** One judgment: a score, a label, or the failure of its evaluator. */
export const Judgment = Type.Object(
  {
    requestId: Type.String({ minLength: 1, maxLength: 200 }),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2 ** 31 - 1,
        description: 'Of the evaluator. Default: the current one',
      }),
    ),
    score: Type.Optional(
      Type.Union([Type.Number(), Type.Boolean(), Type.Null()], {
        description: 'True is 1 and false is 0; null: the evaluator found nothing to judge',
      }),
    ),
    label: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: MAX_LABEL_LENGTH }))),
    reasoning: Type.Optional(Nullable(Type.String(), 'At most 4 KB of it are kept')),
    evaluatedAt: Type.Optional(
      Type.Unknown({ description: 'RFC 3339, or milliseconds since the epoch. Default: now' }),
    ),
    error: Type.Optional(
      Nullable(
        Type.Object(
          {
            code: Type.String({
              pattern: '^[a-z][a-z0-9_]{0,63}$',
              rule: 'must be 1 to 64 lower-case letters, digits and "_", beginning with a letter',
            }),
            message: Type.Optional(Nullable(Type.String({ maxLength: MAX_MESSAGE_LENGTH }))),
          },
          closed,
        ),
        'Why there is no score',
      ),
    ),
  },
  closed,
);
export type Judgment = Static<typeof Judgment>;

/** Described as a judgment, and checked one by one, so that a bad one is told apart from the others. */
const UncheckedJudgment = Type.Unsafe<unknown>({ ...Judgment, ...Type.Unknown() });

export const JudgmentsBody = Type.Object(
  { evaluations: Type.Array(UncheckedJudgment, { minItems: 1, maxItems: MAX_JUDGMENTS }) },
  closed,
);
export type JudgmentsBody = Static<typeof JudgmentsBody>;

/** `not_stored_yet`: the request was logged a moment ago, and is not in the store. */
export const IMPORT_OUTCOMES = [
  'stored',
  'duplicate',
  'unknown_request',
  'not_stored_yet',
  'invalid',
] as const;

export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number];

export const ImportedRowJson = Type.Object(
  {
    requestId: Nullable(Type.String(), 'Null where the judgment has no usable one'),
    outcome: OneOf(IMPORT_OUTCOMES),
    evaluationId: Nullable(Type.String(), 'The evaluation that was stored, or was there already'),
    error: Nullable(Type.String(), 'The rule that an invalid judgment breaks'),
  },
  closed,
);
export type ImportedRowJson = Static<typeof ImportedRowJson>;

const Count = Type.Integer();
export const ImportedJson = Type.Object(
  {
    stored: Count,
    duplicate: Count,
    unknown_request: Count,
    not_stored_yet: Count,
    invalid: Count,
    results: Type.Array(ImportedRowJson, { description: 'One for each judgment, in order' }),
  },
  { ...closed, $id: 'ImportedJudgments' },
);
export type ImportedJson = Static<typeof ImportedJson>;
