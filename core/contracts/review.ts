/** Review queues: requests that wait for people's grades. Bodies and replies of `/v1/review-queue`. */
import { type Static, Type } from '@sinclair/typebox';
import { filterOrQ } from './filter-or-q.ts';
import { Author, IdText, LineName } from './grade.ts';
import { closed, Nullable, Timestamp } from './shapes.ts';

/** Queues of one organization that are not archived. */
export const MAX_QUEUES = 200;
/** Items of one queue: more than people grade in weeks, and few enough to look through for the next one. */
export const MAX_ITEMS = 10_000;
/** Time that a person has for an item, until others get it. Shorter loses the work of a slow reader, longer keeps items from others. */
export const CLAIM_MS = 10 * 60_000;
/** People whose progress is listed, those who graded most first. */
export const MAX_LISTED_PEOPLE = 100;

const MAX_PER_ITEM = 10;
const MAX_CRITERIA_A_QUEUE = 20;

const Source = Type.Object(
  {
    ...filterOrQ,
    sample: Type.Optional(
      Type.Object(
        {
          n: Type.Integer({ minimum: 1, maximum: MAX_ITEMS, description: 'Requests' }),
          seed: Type.Integer({
            minimum: 0,
            maximum: Number.MAX_SAFE_INTEGER,
            description: 'The same seed chooses the same requests of the same ones',
          }),
        },
        { ...closed, description: 'Of the requests of the filter, by a hash of seed and request id' },
      ),
    ),
    requestIds: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: MAX_ITEMS }),
    ),
    disagreement: Type.Optional(
      Type.Object(
        { evaluatorId: IdText },
        {
          ...closed,
          description:
            "Requests of which a person says another thing than the evaluator's current version, or than another person by a criterion of the queue",
        },
      ),
    ),
  },
  {
    ...closed,
    description:
      'Exactly one of a filter (`filter` or `q`, perhaps with `sample`), `requestIds` and `disagreement`. The items are fixed when the queue is made',
  },
);
export type Source = Static<typeof Source>;

const name = LineName('Unique among the queues that are not archived, ignoring case');

export const ReviewQueueBody = Type.Object(
  {
    name,
    criterionIds: Type.Array(IdText, {
      minItems: 1,
      maxItems: MAX_CRITERIA_A_QUEUE,
      description: 'A person has graded an item once they graded it by all of these that are not archived',
    }),
    source: Source,
    perItem: Type.Integer({
      minimum: 1,
      maximum: MAX_PER_ITEM,
      description: 'People who are to grade each item',
    }),
  },
  closed,
);
export type ReviewQueueBody = Static<typeof ReviewQueueBody>;

export const ReviewQueuePatch = Type.Object({ name }, closed);
export type ReviewQueuePatch = Static<typeof ReviewQueuePatch>;

export const ReviewQueueQueryBody = Type.Object(
  { archived: Type.Optional(Type.Boolean({ description: 'True: the archived ones. Default: the others' })) },
  closed,
);
export type ReviewQueueQueryBody = Static<typeof ReviewQueueQueryBody>;

/** The parameters of asking for the next item. */
export const NextItemQuery = Type.Object(
  {
    author: Type.Optional(Author),
    besides: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'A request: another item than this one, to be loaded while it is graded. A person has claimed two items at most',
      }),
    ),
  },
  { ...closed, nameRule: 'is not a known parameter: use author or besides' },
);
export type NextItemQuery = Static<typeof NextItemQuery>;

export const SkipBody = Type.Object(
  {
    requestId: Type.String({ minLength: 1, maxLength: 200 }),
    reason: Type.Optional(Type.String({ maxLength: 1_000 })),
    author: Type.Optional(Author),
  },
  closed,
);
export type SkipBody = Static<typeof SkipBody>;

const queueFields = {
  id: Type.String(),
  name: Type.String(),
  criterion_ids: Type.Array(Type.String()),
  source: Type.Unknown({ description: 'As it was sent; of `requestIds` their number' }),
  per_item: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
  archived_at: Nullable(Timestamp),
};

export const ReviewQueueJson = Type.Object(queueFields, { ...closed, $id: 'ReviewQueue' });
export type ReviewQueueJson = Static<typeof ReviewQueueJson>;

const ProgressJson = Type.Object(
  {
    items: Type.Integer({ description: 'Without those whose request was erased, or is past the retention' }),
    done: Type.Integer({ description: 'Items that as many people graded as are wanted' }),
    skipped: Type.Integer({ description: 'Items that are not done, and that somebody skipped' }),
    people: Type.Array(
      Type.Object(
        {
          author: Nullable(Type.String(), 'Null: the person is the API key'),
          key_id: Nullable(Type.String(), 'Null: the person is the author'),
          graded: Type.Integer(),
          skipped: Type.Integer(),
        },
        closed,
      ),
      { description: `Those who graded most first, at most ${MAX_LISTED_PEOPLE}` },
    ),
  },
  closed,
);
export type ProgressJson = Static<typeof ProgressJson>;

/** One queue, with how far it is. */
export const WholeReviewQueueJson = Type.Object(
  { ...queueFields, progress: ProgressJson },
  { ...closed, $id: 'WholeReviewQueue' },
);
export type WholeReviewQueueJson = Static<typeof WholeReviewQueueJson>;

export const NextItemJson = Type.Object(
  {
    request_id: Type.String(),
    criterion_ids: Type.Array(Type.String(), { description: 'Those by which this person has not graded it' }),
    claimed_until: Timestamp,
  },
  { ...closed, $id: 'NextItem' },
);
export type NextItemJson = Static<typeof NextItemJson>;
