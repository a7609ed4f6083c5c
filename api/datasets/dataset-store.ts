/** The statements of datasets and their versions, each within one organization: `tx` is of the role `assay_api`. */
import { containing } from '#core/filter/mod.ts';
import { lockName, type TransactionSql } from '#platform/postgres/mod.ts';

export type DatasetRow = {
  dataset_id: string;
  name: string;
  description: string;
  /** JSON. */
  request_schema: string | null;
  expected_schema: string | null;
  last_version: number;
  /** The number of items in the last version. */
  items: number;
  created_at: Date;
  updated_at: Date;
  archived_at: Date | null;
};

/** The part of a dataset that a writer of items needs. `items` is the number of those in its last version. */
export type LockedDataset = Pick<
  DatasetRow,
  'dataset_id' | 'request_schema' | 'expected_schema' | 'last_version' | 'items'
> & { is_archived: boolean };

const columns = (tx: TransactionSql) => tx`
  d.dataset_id, d.name, d.description, d.request_schema, d.expected_schema, d.last_version, d.created_at, d.updated_at,
  d.archived_at, coalesce((select v.items from assay.dataset_versions v
                            where v.dataset_id = d.dataset_id and v.version = d.last_version), 0) as items`;

/** Locks the names of an organization's datasets until the transaction ends: they are unique, and their number is bounded. */
export async function lockNames(tx: TransactionSql, organizationId: string): Promise<void> {
  await lockName(tx, `datasets ${organizationId}`);
}

export async function lockDataset(
  tx: TransactionSql,
  organizationId: string,
  datasetId: string,
): Promise<LockedDataset | undefined> {
  const [row] = await tx<Omit<LockedDataset, 'items'>[]>`
    select dataset_id, request_schema, expected_schema, last_version, archived_at is not null as is_archived
      from assay.datasets where organization_id = ${organizationId} and dataset_id = ${datasetId} for update`;
  if (row === undefined) return undefined;
  // A statement of its own: one that waited for the lock would not see the version that it waited for.
  const [version] = await tx<{ items: number }[]>`
    select items from assay.dataset_versions where dataset_id = ${datasetId} and version = ${row.last_version}`;
  return { ...row, items: version?.items ?? 0 };
}

export async function findDataset(
  tx: TransactionSql,
  organizationId: string,
  datasetId: string,
): Promise<DatasetRow | undefined> {
  const [row] = await tx<DatasetRow[]>`
    select ${columns(tx)} from assay.datasets d
    where d.organization_id = ${organizationId} and d.dataset_id = ${datasetId}`;
  return row;
}

/** Finds the id of the dataset with this name. */
export async function findNamed(
  tx: TransactionSql,
  organizationId: string,
  name: string,
): Promise<string | undefined> {
  const [row] = await tx<{ dataset_id: string }[]>`
    select dataset_id from assay.datasets
    where organization_id = ${organizationId} and name = ${name} and archived_at is null`;
  return row?.dataset_id;
}

export async function countDatasets(tx: TransactionSql, organizationId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.datasets
    where organization_id = ${organizationId} and archived_at is null`;
  return row!.count;
}

type Described = Pick<DatasetRow, 'name' | 'description' | 'request_schema' | 'expected_schema'>;

export async function insertDataset(
  tx: TransactionSql,
  dataset: Described & { organizationId: string; datasetId: string; at: Date },
): Promise<void> {
  const { organizationId, datasetId, name, description, request_schema, expected_schema, at } = dataset;
  await tx`
    insert into assay.datasets
      (dataset_id, organization_id, name, description, request_schema, expected_schema, created_at, updated_at)
    values
      (${datasetId}, ${organizationId}, ${name}, ${description}, ${request_schema}, ${expected_schema}, ${at}, ${at})`;
}

export async function updateDataset(
  tx: TransactionSql,
  datasetId: string,
  changes: Partial<Described & { archived_at: Date }>,
  at: Date,
): Promise<void> {
  await tx`update assay.datasets set ${tx({ ...changes, updated_at: at })} where dataset_id = ${datasetId}`;
}

/** Lists a page of datasets, the newest first; `after` is the id of the last of the page before. */
export async function listDatasets(
  tx: TransactionSql,
  organizationId: string,
  query: { search: string; isArchived: boolean; limit: number; after: string | null },
): Promise<DatasetRow[]> {
  const { search, isArchived, limit, after } = query;
  // Names have the collation "C", which folds the case of ASCII letters only; the database's own folds all letters.
  return tx<DatasetRow[]>`
    select ${columns(tx)} from assay.datasets d
    where d.organization_id = ${organizationId} and (d.archived_at is not null) = ${isArchived}
      and (${search} = '' or d.name collate "default" ilike ${containing(search)})
      ${
        after === null
          ? tx``
          : tx`and (d.created_at, d.dataset_id) <
                 (select created_at, dataset_id from assay.datasets where dataset_id = ${after})`
      }
    order by d.created_at desc, d.dataset_id desc limit ${limit}`;
}

export type VersionRow = {
  version: number;
  items: number;
  message: string;
  /** Hexadecimal. */
  content_sha256: string;
  created_at: Date;
  created_by: string | null;
};

/** Lists versions of a dataset below `before`, the highest first. */
export async function listVersions(
  tx: TransactionSql,
  datasetId: string,
  { before, limit }: { before: number; limit: number },
): Promise<VersionRow[]> {
  return tx<VersionRow[]>`
    select version, items, message, encode(content_sha256, 'hex') as content_sha256, created_at, created_by
      from assay.dataset_versions where dataset_id = ${datasetId} and version < ${before}
     order by version desc limit ${limit}`;
}

/** Stores a version whose items are stored already. */
export async function insertVersion(
  tx: TransactionSql,
  version: {
    organizationId: string;
    datasetId: string;
    version: number;
    items: number;
    message: string;
    keyId: string;
    at: Date;
  },
): Promise<void> {
  const { organizationId, datasetId, items, message, keyId, at } = version;
  await tx`
    insert into assay.dataset_versions
      (dataset_id, version, organization_id, created_at, created_by, message, items, content_sha256)
    select ${datasetId}, ${version.version}, ${organizationId}, ${at}, ${keyId}, ${message}, ${items},
           sha256(coalesce(string_agg(content_sha256, ''::bytea order by content_sha256), ''::bytea))
      from assay.dataset_items where dataset_id = ${datasetId} and to_version is null`;
  await tx`
    update assay.datasets set last_version = ${version.version}, updated_at = ${at} where dataset_id = ${datasetId}`;
}
