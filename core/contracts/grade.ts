/** Criteria, and the grades that people give by them: bodies and replies of `/v1/criterion` and `/v1/grade`. */
import { type Static, Type } from '@sinclair/typebox';
import { type Category, foldCategory, KIND_TYPES, type Kind, stepsTo } from '../grades/mod.ts';
import { quoteValue } from './check.ts';
import { filterOrQ } from './filter-or-q.ts';
import { invalidField } from './invalid.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';
import { storableText } from './storable-text.ts';

/** Criteria of one organization that are not archived. */
export const MAX_CRITERIA = 200;
/** Grades of one request by one criterion: more people than ever look at one answer. */
export const MAX_GRADES_A_REQUEST = 100;
/** Former values that are kept of one grade; the oldest go first. */
export const MAX_HISTORY = 50;
/** Grades of a request that are listed. */
export const MAX_LISTED_GRADES = 1_000;
/** Grades that an agreement is computed of: a few seconds of reading, and a tenth of a second of computing. */
export const MAX_AGREEMENT_GRADES = 100_000;
/** Different values on a scale without steps that alpha is computed of: each is compared with each. */
export const MAX_SCALE_VALUES = 1_000;

const MAX_COMMENT_LENGTH = 10_000;
const MAX_LABELS = 50;
const MAX_LABEL_LENGTH = 200;
/** Largest bound of a scale, and largest score of a label. */
const MAX_AMOUNT = 1e9;
/** Steps of a scale: a person tells no more apart. */
const MAX_STEPS = 1_000;
const MAX_PAGE = 100;
export const DEFAULT_PAGE = 50;

/** A name of what people see in lists: one line. */
export const LineName = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '^[^\\s\\x00-\\x1f\\x7f](?:[^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f])?$',
    rule: 'must be one line without spaces around it',
    description,
  });

/** An id in a body. The API answers a text that cannot be an id as an unknown one. */
export const IdText = Type.String({ minLength: 1, maxLength: 200, description: 'A UUID' });

export const Author = LineName(
  'Who graded, where one key serves several people: whoever has the same name is the same person, whichever key sends it. Default: the key itself',
);

const Amount = (description: string) =>
  Type.Number({ minimum: -MAX_AMOUNT, maximum: MAX_AMOUNT, description });

const KindBody = Type.Object(
  {
    type: Type.Unsafe<Kind['type']>({
      ...OneOf(KIND_TYPES),
      description: 'boolean: true is good; scale: a number from `min` to `max`; categories: one of `labels`',
    }),
    min: Type.Optional(Amount('Of a scale')),
    max: Type.Optional(Amount('Of a scale')),
    step: Type.Optional(Amount('Of a scale: from `min` in such steps. Default: any number')),
    labels: Type.Optional(
      Type.Array(
        Type.Object(
          {
            label: Type.String({ minLength: 1, maxLength: MAX_LABEL_LENGTH, pattern: '\\S' }),
            score: Type.Optional(Amount('Labels with scores can be held against an evaluator')),
          },
          closed,
        ),
        { minItems: 2, maxItems: MAX_LABELS, description: 'Of categories; different ones, ignoring case' },
      ),
    ),
  },
  { ...closed, description: 'What people can say. It does not change once there are grades' },
);
type KindBody = Static<typeof KindBody>;

function readScale({ min, max, step }: KindBody): Kind {
  if (min === undefined) throw invalidField('kind.min', 'is required for a scale');
  if (max === undefined) throw invalidField('kind.max', 'is required for a scale');
  if (max <= min) throw invalidField('kind.max', `must be greater than kind.min, but is ${max}`);
  if (step === undefined) return { type: 'scale', min, max, step: null };
  const steps = step > 0 ? stepsTo({ min, step }, max) : null;
  if (steps === null || steps > MAX_STEPS)
    throw invalidField(
      'kind.step',
      `must divide the scale into at most ${MAX_STEPS} equal steps, but is ${step}`,
    );
  return { type: 'scale', min, max, step };
}

function readLabels({ labels }: KindBody): Kind {
  if (labels === undefined) throw invalidField('kind.labels', 'is required for categories');
  const seen = new Set<string>();
  const read = labels.map(({ label, score = null }, index): Category => {
    const stored = storableText(label.trim());
    const folded = foldCategory(stored);
    if (seen.has(folded))
      throw invalidField(
        `kind.labels.${index}.label`,
        `is there before, ignoring case: ${quoteValue(label)}`,
      );
    seen.add(folded);
    return { label: stored, score };
  });
  return { type: 'categories', labels: read };
}

const FIELDS: Readonly<Record<Kind['type'], readonly string[]>> = {
  boolean: ['type'],
  scale: ['type', 'min', 'max', 'step'],
  categories: ['type', 'labels'],
};

/**
 * Returns what a criterion lets people say, from a body that fits its schema.
 * @throws AssayError invalid_body
 */
export function readKind(body: KindBody): Kind {
  const foreign = Object.keys(body).find((name) => !FIELDS[body.type].includes(name));
  if (foreign !== undefined)
    throw invalidField(`kind.${foreign}`, `does not belong to the type ${body.type}`);
  if (body.type === 'boolean') return { type: 'boolean' };
  return body.type === 'scale' ? readScale(body) : readLabels(body);
}

const criterionFields = {
  name: LineName('Unique among the criteria that are not archived, ignoring case'),
  description: Type.Optional(
    Type.String({ maxLength: 10_000, description: 'What to look at, for those who grade' }),
  ),
  kind: KindBody,
  evaluatorId: Type.Optional(
    Nullable(
      IdText,
      'The evaluator that judges the same: its agreement with people is computed of these grades. An evaluator has at most one criterion',
    ),
  ),
};

export const CriterionBody = Type.Object(criterionFields, closed);
export type CriterionBody = Static<typeof CriterionBody>;

/** The body that changes a criterion: what is left out stays as it is. */
export const CriterionPatch = Type.Partial(Type.Object(criterionFields), { ...closed, minProperties: 1 });
export type CriterionPatch = Static<typeof CriterionPatch>;

export const CriterionQueryBody = Type.Object(
  { archived: Type.Optional(Type.Boolean({ description: 'True: the archived ones. Default: the others' })) },
  closed,
);
export type CriterionQueryBody = Static<typeof CriterionQueryBody>;

/** A criterion as the API shows it. */
export const CriterionJson = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    kind: Type.Union([
      Type.Object({ type: Type.Literal('boolean') }, closed),
      Type.Object(
        {
          type: Type.Literal('scale'),
          min: Type.Number(),
          max: Type.Number(),
          step: Nullable(Type.Number(), 'Null: any number'),
        },
        closed,
      ),
      Type.Object(
        {
          type: Type.Literal('categories'),
          labels: Type.Array(Type.Object({ label: Type.String(), score: Nullable(Type.Number()) }, closed)),
        },
        closed,
      ),
    ]),
    evaluator_id: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: Nullable(Timestamp),
  },
  { ...closed, $id: 'Criterion' },
);
export type CriterionJson = Static<typeof CriterionJson>;

const Value = Type.Union([Type.Boolean(), Type.Number(), Type.String()], {
  description: 'true or false, a number of the scale, or a label: by the kind of the criterion',
});

export const GradeBody = Type.Object(
  {
    criterionId: IdText,
    value: Value,
    comment: Type.Optional(Nullable(Type.String({ maxLength: MAX_COMMENT_LENGTH }), 'Default: none')),
    author: Type.Optional(Author),
  },
  closed,
);
export type GradeBody = Static<typeof GradeBody>;

/** The parameters of taking a grade back. */
export const GradeTakenBack = Type.Object(
  { criterionId: IdText, author: Type.Optional(Author) },
  { ...closed, nameRule: 'is not a known parameter: use criterionId or author' },
);
export type GradeTakenBack = Static<typeof GradeTakenBack>;

export const GradeQueryBody = Type.Object(
  {
    criterionId: Type.Optional(IdText),
    author: Type.Optional(Author),
    ...filterOrQ,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE })),
    after: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,17}$',
        rule: 'must be a next of an earlier page',
        description: 'The `next` of the page before',
      }),
    ),
  },
  closed,
);
export type GradeQueryBody = Static<typeof GradeQueryBody>;

const gradeFields = {
  id: Type.String(),
  request_id: Type.String(),
  criterion_id: Type.String(),
  author: Nullable(Type.String(), 'Null: the person is the API key'),
  key_id: Type.String({ description: 'The API key that sent it' }),
  value: Value,
  comment: Nullable(Type.String()),
  graded_at: Timestamp,
};

export const GradeJson = Type.Object(gradeFields, { ...closed, $id: 'Grade' });
export type GradeJson = Static<typeof GradeJson>;

/** A grade with the values that it replaced. */
export const GradeWithHistoryJson = Type.Object(
  {
    ...gradeFields,
    history: Type.Array(Type.Object({ value: Value, graded_at: Timestamp, ended_at: Timestamp }, closed), {
      description: `Former values of the same person, the newest first; at most ${MAX_HISTORY} are kept`,
    }),
  },
  { ...closed, $id: 'GradeWithHistory' },
);
export type GradeWithHistoryJson = Static<typeof GradeWithHistoryJson>;

export const GradePageJson = Type.Object(
  { grades: Type.Array(GradeJson), next: Nullable(Type.String(), 'Null: this is the last page') },
  closed,
);
export type GradePageJson = Static<typeof GradePageJson>;

export const AgreementQueryBody = Type.Object(filterOrQ, closed);
export type AgreementQueryBody = Static<typeof AgreementQueryBody>;

const Coefficient = (description: string) =>
  Type.Object(
    { value: Nullable(Type.Number()), reason: Nullable(Type.String(), 'Why there is no value') },
    { ...closed, description },
  );

export const PeopleAgreementJson = Type.Object(
  {
    requests: Type.Integer({ description: 'Requests with a grade' }),
    multiply_graded: Type.Integer({ description: 'Those with two grades or more' }),
    raters: Type.Integer({ description: 'People who graded' }),
    grades: Type.Integer(),
    level: OneOf(['nominal', 'interval']),
    cohens_kappa: Coefficient(
      'Of two people, over the requests that both graded. On a scale with steps, weighted by the square of the distance',
    ),
    fleiss_kappa: Coefficient('Of categories and booleans that the same number of people graded everywhere'),
    krippendorffs_alpha: Coefficient(
      'Of any number of people, of whom some may have graded some requests only',
    ),
  },
  closed,
);
export type PeopleAgreementJson = Static<typeof PeopleAgreementJson>;
