/** Where items of datasets come from, and go to: logged requests, and files. */
import { type Static, Type } from '@sinclair/typebox';
import { DefaultSplit, MAX_ITEMS_OF_CALL, Message, Replace, Split, VersionText } from './dataset.ts';
import { filterOrQ } from './filter-or-q.ts';
import { closed, OneOf } from './shapes.ts';

/** Items that one call of `items/from-requests` makes, and the bytes of their contents. */
export const MAX_SAMPLE = 10_000;
export const MAX_SAMPLE_BYTES = 64 * 1024 * 1024;
export const EXPECTED_SOURCES = ['answer', 'logged', 'none'] as const;
export const CLUSTER_SOURCES = ['session', 'user', 'none'] as const;

export const RequestIds = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  minItems: 1,
  maxItems: MAX_ITEMS_OF_CALL,
});

export const Sample = Type.Object(
  {
    n: Type.Integer({ minimum: 1, maximum: MAX_SAMPLE }),
    seed: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    stratifyBy: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          '"model" or the name of a property: each value has the share of the sample that it has of all',
      }),
    ),
  },
  { ...closed, description: 'The same seed picks the same requests' },
);

export const FromRequestsBody = Type.Object(
  {
    ...filterOrQ,
    requestIds: Type.Optional(RequestIds),
    sample: Type.Optional(Sample),
    expected: Type.Optional(OneOf(EXPECTED_SOURCES)),
    split: Type.Optional(Split),
    cluster: Type.Optional(OneOf(CLUSTER_SOURCES)),
    message: Type.Optional(Message),
    dryRun: Type.Optional(Type.Boolean({ description: 'True: nothing is stored' })),
  },
  closed,
);
export type FromRequestsBody = Static<typeof FromRequestsBody>;

const IMPORT_FORMATS = ['jsonl', 'csv'] as const;

export const ImportBody = Type.Object(
  {
    format: OneOf(IMPORT_FORMATS),
    text: Type.String({ description: 'At most 32 MiB with all else in the body' }),
    mapping: Type.Optional(
      Type.Object(
        {
          columns: Type.Record(
            Type.String({ maxLength: 200 }),
            Type.String({ minLength: 1, maxLength: 200 }),
            {
              description:
                'By the name of a CSV column: the name that it stands for, as in {"question": "input"}',
            },
          ),
        },
        closed,
      ),
    ),
    message: Type.Optional(Message),
    replace: Type.Optional(Replace),
    split: Type.Optional(DefaultSplit),
  },
  closed,
);
export type ImportBody = Static<typeof ImportBody>;

export const ExportParameters = Type.Object(
  { format: Type.Optional(OneOf(['jsonl'])), version: Type.Optional(VersionText) },
  closed,
);
/** Why a request that was chosen did not become an item. */
const SKIP_REASONS = [
  'not_found',
  'playground',
  'experiment',
  'evaluator',
  'failed',
  'truncated',
  'other_endpoint',
  'body_too_large',
  'no_chat_body',
  'no_answer',
  'no_expected',
  'schema',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export const SkippedRequests = Type.Object({ reason: OneOf(SKIP_REASONS), count: Type.Integer() }, closed);

export const FromRequestsJson = Type.Object(
  {
    version: Type.Integer(),
    added: Type.Integer(),
    unchanged: Type.Integer({
      description: 'Requests that an item of the newest version was made from already',
    }),
    skipped: Type.Array(SkippedRequests),
  },
  closed,
);
export type FromRequestsJson = Static<typeof FromRequestsJson>;
