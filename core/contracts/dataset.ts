/** Datasets: the bodies that the management API takes, the datasets, versions and items that it shows, and their bounds. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

/** A ULID, or a UUID. */
const REQUEST_ID =
  '^(?:[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$';

/** Datasets of one organization that are not archived. */
export const MAX_DATASETS = 1_000;
/** Items of one version. */
export const MAX_ITEMS = 100_000;
export const MAX_VERSIONS = 10_000;
/** Items of one call of `items` and `items/remove`. */
export const MAX_ITEMS_OF_CALL = 1_000;
/** Bytes of a body with items, and of a text to import. */
export const MAX_ITEMS_BODY_BYTES = 32 * 1024 * 1024;
/** Bytes of UTF-8 of one item's members. */
export const MAX_REQUEST_BYTES = 1024 * 1024;
export const MAX_EXPECTED_BYTES = 1024 * 1024;
export const MAX_METADATA_BYTES = 64 * 1024;
/** Items or versions of one page. */
const MAX_DATASET_PAGE = 200;
const DEFAULT_PAGE = 50;

const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  rule: 'must hold a character that is not a space',
  description: "Unique among the organization's datasets that are not archived",
});
const Description = Type.String({ maxLength: 10_000 });
export const Message = Type.String({ maxLength: 10_000, description: 'What the version is for' });
const JsonSchema = (what: string) =>
  Type.Unknown({
    description: `A JSON Schema that ${what} of every item must fit, in the keywords that docs/guides/datasets.md lists; null: none`,
  });

const ExternalId = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "The caller's own name of an item",
});
const ItemId = Type.String({
  pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$',
  rule: 'must be the id of an item, a ULID in upper case',
  description: 'A ULID. An unknown one is that of a new item',
});
export const Split = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'A part of the dataset, as in train or test',
});
const Cluster = Type.String({
  minLength: 1,
  maxLength: 1_024,
  description: 'What items have in common that are not independent, such as a session',
});
const Version = Type.Integer({ minimum: 1, maximum: MAX_VERSIONS });
const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_DATASET_PAGE, default: DEFAULT_PAGE }));
const After = Type.Optional(
  Type.String({ minLength: 1, maxLength: 100, description: 'The `next` of the page before' }),
);
const Next = Nullable(Type.String(), 'The cursor of the next page; null: there is none');

export const NewDatasetBody = Type.Object(
  {
    name: Name,
    description: Type.Optional(Description),
    requestSchema: Type.Optional(JsonSchema('`request`')),
    expectedSchema: Type.Optional(JsonSchema('`expected`')),
  },
  closed,
);
export type NewDatasetBody = Static<typeof NewDatasetBody>;

export const DatasetChangeBody = Type.Partial(NewDatasetBody, closed);
export type DatasetChangeBody = Static<typeof DatasetChangeBody>;

export const DatasetQueryBody = Type.Object(
  {
    search: Type.Optional(Type.String({ maxLength: 1_000, description: 'A part of the name, in any case' })),
    archived: Type.Optional(
      Type.Boolean({ description: 'True: those that are archived. Default: those that are not' }),
    ),
    limit: Limit,
    after: After,
  },
  closed,
);
export type DatasetQueryBody = Static<typeof DatasetQueryBody>;

/** An item as callers send it. `request` needs `messages` or `inputs`, which core/datasets checks. */
export const DatasetItem = Type.Object(
  {
    id: Type.Optional(ItemId),
    externalId: Type.Optional(ExternalId),
    request: Type.Object(
      {
        messages: Type.Optional(Type.Array(Type.Object({}), { maxItems: 10_000 })),
        inputs: Type.Optional(Type.Object({}, { description: 'The variables of a stored prompt' })),
      },
      { description: 'The body of a chat completion, or `inputs` alone' },
    ),
    expected: Type.Optional(Type.Unknown({ description: 'What a good answer is: any JSON' })),
    metadata: Type.Optional(Type.Object({})),
    split: Type.Optional(Split),
    cluster: Type.Optional(Cluster),
    sourceRequestId: Type.Optional(
      Type.String({
        pattern: REQUEST_ID,
        rule: 'must be a UUID or a ULID, as ids of requests are',
        description: 'The logged request that it was made from: erasing the request erases the item',
      }),
    ),
  },
  { ...closed, $id: 'DatasetItem' },
);
export type DatasetItem = Static<typeof DatasetItem>;

export const Replace = Type.Boolean({
  description: 'True: items that the call does not name are removed; of the `split` alone, if one is given',
});

export const DefaultSplit = Type.String({ ...Split, description: 'The split of items that name none' });

export const ItemsBody = Type.Object(
  {
    items: Type.Array(DatasetItem, {
      maxItems: MAX_ITEMS_OF_CALL,
      description:
        'An item with the `id` or `externalId` of one that is there takes its place; without both, one of equal content is found',
    }),
    message: Type.Optional(Message),
    replace: Type.Optional(Replace),
    split: Type.Optional(DefaultSplit),
  },
  closed,
);
export type ItemsBody = Static<typeof ItemsBody>;

export const ItemRemovalBody = Type.Object(
  {
    ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: MAX_ITEMS_OF_CALL }),
    ),
    externalIds: Type.Optional(Type.Array(ExternalId, { maxItems: MAX_ITEMS_OF_CALL })),
    message: Type.Optional(Message),
  },
  closed,
);
export type ItemRemovalBody = Static<typeof ItemRemovalBody>;

export const ItemQueryBody = Type.Object(
  {
    version: Type.Optional(Version),
    split: Type.Optional(Split),
    cluster: Type.Optional(Cluster),
    search: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: 'A part of the external id, request or expected, in any case',
      }),
    ),
    limit: Limit,
    after: After,
  },
  closed,
);
export type ItemQueryBody = Static<typeof ItemQueryBody>;

export const DiffBody = Type.Object(
  { from: Type.Integer({ minimum: 0, maximum: MAX_VERSIONS }), to: Version, limit: Limit, after: After },
  closed,
);
export type DiffBody = Static<typeof DiffBody>;

const WHOLE_VERSION = '^[1-9][0-9]{0,4}$';
export const VersionText = Type.String({
  pattern: WHOLE_VERSION,
  rule: 'must be the number of a version',
  description: 'Default: the newest',
});
export const ItemParameters = Type.Object({ version: Type.Optional(VersionText) }, closed);
export const VersionListParameters = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|1[0-9]{2}|200)$',
        rule: `must be a whole number from 1 to ${MAX_DATASET_PAGE}`,
        description: `1 to ${MAX_DATASET_PAGE}; ${DEFAULT_PAGE} unless given`,
      }),
    ),
    after: Type.Optional(
      Type.String({
        pattern: WHOLE_VERSION,
        rule: 'must be the `next` of a page before',
        description: 'Versions before this one',
      }),
    ),
  },
  closed,
);

export const DatasetIdJson = Type.Object({ id: Type.String() }, closed);

export const DatasetJson = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    requestSchema: Type.Unknown({ description: 'null: none' }),
    expectedSchema: Type.Unknown({ description: 'null: none' }),
    version: Type.Integer({ description: 'The newest; 0: it has had no item yet' }),
    items: Type.Integer({ description: 'Of the newest version' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: Nullable(Timestamp),
  },
  { ...closed, $id: 'Dataset' },
);
export type DatasetJson = Static<typeof DatasetJson>;
export const DatasetPage = Type.Object({ datasets: Type.Array(DatasetJson), next: Next }, closed);
export type DatasetPage = Static<typeof DatasetPage>;

const DatasetVersionJson = Type.Object(
  {
    version: Type.Integer(),
    items: Type.Integer(),
    message: Type.String(),
    content_sha256: Type.String({ description: 'Hexadecimal; equal for equal content' }),
    created_at: Timestamp,
    created_by: Nullable(Type.String(), 'The API key'),
  },
  { ...closed, $id: 'DatasetVersion' },
);
export type DatasetVersionJson = Static<typeof DatasetVersionJson>;
export const DatasetVersionPage = Type.Object(
  { versions: Type.Array(DatasetVersionJson), next: Next },
  closed,
);
export type DatasetVersionPage = Static<typeof DatasetVersionPage>;

const count = (description: string) => Type.Integer({ description });

export const ItemChangesJson = Type.Object(
  {
    version: count('The newest version after the call: a new one where anything changed'),
    added: Type.Integer(),
    changed: Type.Integer(),
    unchanged: Type.Integer(),
    removed: Type.Integer(),
  },
  { ...closed, $id: 'DatasetItemChanges' },
);
export type ItemChangesJson = Static<typeof ItemChangesJson>;
export const ItemRemovalJson = Type.Object({ version: Type.Integer(), removed: Type.Integer() }, closed);
export type ItemRemovalJson = Static<typeof ItemRemovalJson>;

/** An item as answers show it. */
export const StoredDatasetItem = Type.Union(
  [
    Type.Object({ ...DatasetItem.properties, id: Type.String(), metadata: Type.Object({}) }, closed),
    Type.Object({ id: Type.String(), erased: Type.Literal(true) }, closed),
  ],
  { $id: 'StoredDatasetItem', description: 'Of an item whose request was erased, only the id is left' },
);
export type StoredDatasetItem = Static<typeof StoredDatasetItem>;
export const ItemPage = Type.Object(
  {
    items: Type.Array(StoredDatasetItem, { description: 'Oldest first; a page of large items may be short' }),
    next: Next,
  },
  closed,
);
export type ItemPage = Static<typeof ItemPage>;

export const ITEM_CHANGES = ['added', 'changed', 'removed'] as const;
export type ItemChange = (typeof ITEM_CHANGES)[number];
export const DiffJson = Type.Object(
  {
    added: Type.Integer(),
    changed: Type.Integer(),
    removed: Type.Integer(),
    items: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          externalId: Nullable(Type.String()),
          change: OneOf(ITEM_CHANGES),
          before: Nullable(StoredDatasetItem),
          after: Nullable(StoredDatasetItem),
        },
        closed,
      ),
    ),
    next: Next,
  },
  closed,
);
export type DiffJson = Static<typeof DiffJson>;
