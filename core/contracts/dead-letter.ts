/** The parameters and the replies of `/v1/dead-letter`. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

/** Letters of one page. */
export const LETTER_PAGE = { most: 100, unlessGiven: 50 } as const;
/** Bytes of a part that a list shows. */
export const EXCERPT_BYTES = 200;
/** Bytes of a part that one letter shows. */
export const PART_BYTES = 65_536;
/** Characters. A stored reason has at most 2,000. */
const LONGEST_REASON = 2_000;

export const DeadLettersQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|100)$',
        rule: `must be a whole number from 1 to ${LETTER_PAGE.most}`,
        description: `1 to ${LETTER_PAGE.most}; ${LETTER_PAGE.unlessGiven} unless given`,
      }),
    ),
    after: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,17}$',
        rule: 'must be the `next` of an earlier page',
        description: 'The `next` of the page before',
      }),
    ),
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: LONGEST_REASON, description: 'Letters with this very reason' }),
    ),
  },
  closed,
);
export type DeadLettersQuery = Static<typeof DeadLettersQuery>;

const ENCODINGS = ['utf-8', 'base64'] as const;
const Bytes = Type.Integer({ minimum: 0, description: 'Size of the whole' });

const Text = (most: number) =>
  Type.Object(
    {
      bytes: Bytes,
      encoding: Type.Unsafe<(typeof ENCODINGS)[number]>({
        ...OneOf(ENCODINGS),
        description: '`base64` for bytes that are no UTF-8',
      }),
      text: Type.String({
        description: `The first ${most} bytes, whatever a caller or a provider sent: treat them as hostile`,
      }),
      is_cut: Type.Boolean({ description: 'Whether more bytes follow' }),
    },
    closed,
  );
const Part = Text(PART_BYTES);
export type LetterText = Static<typeof Part>;

const letter = {
  id: Type.String(),
  created_at: Timestamp,
  request_id: Nullable(Type.String(), 'As the entry names it; null: none could be read'),
  reason: Type.String({ description: 'Why it could not be stored. May quote what a caller sent' }),
  bytes: Bytes,
};

const DeadLetterSummary = Type.Object(
  { ...letter, excerpt: Text(EXCERPT_BYTES) },
  { ...closed, $id: 'DeadLetterSummary', description: 'The excerpt is of the request body' },
);
export type DeadLetterSummary = Static<typeof DeadLetterSummary>;

export const DeadLetterPage = Type.Object(
  {
    letters: Type.Array(DeadLetterSummary, { description: 'Newest first' }),
    next: Nullable(Type.String(), 'The cursor of the next page; null: there is none'),
  },
  closed,
);
export type DeadLetterPage = Static<typeof DeadLetterPage>;

export const DeadLetterJson = Type.Object(
  {
    ...letter,
    origin: Type.String({ description: 'Where the entry was read: an outbox with a position, or a stream' }),
    entry: Nullable(
      Type.Object({ head: Part, request_body: Part, response_body: Part }, closed),
      'Null: the bytes are no entry, as of a damaged stretch of an outbox; such a letter cannot be retried',
    ),
    rest: Nullable(Part, 'The bytes that are no entry; null: they are one'),
  },
  { ...closed, $id: 'DeadLetter' },
);
export type DeadLetterJson = Static<typeof DeadLetterJson>;

export const RetriedJson = Type.Object(
  {
    outcome: Type.Unsafe<'stored' | 'refused'>({
      ...OneOf(['stored', 'refused']),
      description:
        '`stored`: the letter is gone, its request stored, or not needed any more because it was erased. `refused`: the letter stays',
    }),
    reason: Nullable(Type.String(), 'Why it was refused again; null: it was not'),
  },
  { ...closed, $id: 'RetriedDeadLetter' },
);
export type RetriedJson = Static<typeof RetriedJson>;
