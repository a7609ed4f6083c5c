/** The statements of items: `tx` is of the role `assay_api`, and its dataset is known to be one of the organization. */
import type { ItemChange } from '#core/contracts/dataset.ts';
import type { ItemContent } from '#core/datasets/mod.ts';
import { containing } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** The identity of an item of the newest version. */
export type NewestItem = {
  item_id: string;
  external_id: string | null;
  /** Hexadecimal. */
  content_sha256: string;
  source_request_id: string | null;
};

/**
 * Finds the items of the newest version with these ids, names, or, of those without a name, contents. Each condition is a
 * list of constants: without statistics, as after a first import, Postgres may choose an index that only narrows to the
 * dataset. Then it reads the dataset once, and finds each of its items in the list by a hash.
 */
export async function findNewest(
  tx: TransactionSql,
  datasetId: string,
  { ids, externalIds, hashes }: { ids: string[]; externalIds: string[]; hashes: string[] },
): Promise<NewestItem[]> {
  const found = (condition: ReturnType<typeof tx>) => tx`
    select item_id, external_id, encode(content_sha256, 'hex') as content_sha256, source_request_id
      from assay.dataset_items
     where dataset_id = ${datasetId} and to_version is null and ${condition}`;
  const contents = hashes.map((hash) => `\\x${hash}`);
  return tx<NewestItem[]>`
    ${found(tx`item_id = any(${ids}::text[])`)}
    union
    ${found(tx`external_id = any(${externalIds}::text[])`)}
    union
    ${found(tx`content_sha256 = any(${contents}::text[]::bytea[]) and external_id is null`)}
    order by item_id`;
}

/** Lists the ids of the newest version's items, of one split if it is given. */
export async function listNewestIds(
  tx: TransactionSql,
  datasetId: string,
  split: string | null,
): Promise<string[]> {
  const rows = await tx<{ item_id: string }[]>`
    select item_id from assay.dataset_items
     where dataset_id = ${datasetId} and to_version is null ${split === null ? tx`` : tx`and split = ${split}`}`;
  return rows.map(({ item_id }) => item_id);
}

/** Takes items out of the newest version from `version` on. */
export async function endItems(
  tx: TransactionSql,
  datasetId: string,
  version: number,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx`
    update assay.dataset_items set to_version = ${version}
     where dataset_id = ${datasetId} and to_version is null and item_id = any(${[...ids]}::text[])`;
}

/** An item of a new version. */
export type NewItem = ItemContent & { itemId: string; sourceRequestId: string | null; hash: string };

/** Characters and items of one statement: more would take long and hold much memory. */
const STATEMENT_LENGTH = 4 * 1024 * 1024;
const STATEMENT_ITEMS = 2_000;

type Destination = { organizationId: string; datasetId: string; version: number };

export async function insertItems(
  tx: TransactionSql,
  destination: Destination,
  items: readonly NewItem[],
): Promise<void> {
  for (let from = 0; from < items.length; ) {
    let to = from;
    for (
      let length = 0;
      to < items.length && to - from < STATEMENT_ITEMS && length < STATEMENT_LENGTH;
      to += 1
    ) {
      length += items[to]!.request.length + (items[to]!.expected?.length ?? 0) + items[to]!.metadata.length;
    }
    await insertSome(tx, destination, items.slice(from, to));
    from = to;
  }
}

async function insertSome(
  tx: TransactionSql,
  { organizationId, datasetId, version }: Destination,
  items: readonly NewItem[],
): Promise<void> {
  const column = (name: keyof NewItem) => items.map((item) => item[name]) as string[];
  await tx`
    insert into assay.dataset_items
      (dataset_id, from_version, organization_id, item_id, external_id, request, expected, metadata, split, cluster,
       source_request_id, content_sha256)
    select ${datasetId}, ${version}, ${organizationId}, id, external_id, request, expected, metadata, split, cluster,
           source, decode(hash, 'hex')
      from unnest(
        ${column('itemId')}::text[], ${column('externalId')}::text[], ${column('request')}::text[],
        ${column('expected')}::text[], ${column('metadata')}::text[], ${column('split')}::text[],
        ${column('cluster')}::text[], ${column('sourceRequestId')}::text[], ${column('hash')}::text[]
      ) as t (id, external_id, request, expected, metadata, split, cluster, source, hash)`;
}

/** Finds those of these requests that are erased. */
export async function findErased(
  tx: TransactionSql,
  organizationId: string,
  requestIds: readonly string[],
): Promise<Set<string>> {
  if (requestIds.length === 0) return new Set();
  const rows = await tx<{ request_id: string }[]>`
    select request_id from assay.erased_requests
     where organization_id = ${organizationId} and request_id = any(${[...requestIds]}::text[])`;
  return new Set(rows.map(({ request_id }) => request_id));
}

/** An item as it is in a version. */
export type ItemRow = {
  item_id: string;
  external_id: string | null;
  request: string | null;
  expected: string | null;
  metadata: string;
  split: string | null;
  cluster: string | null;
  source_request_id: string | null;
  is_erased: boolean;
};

const itemColumns = (tx: TransactionSql) => tx`
  i.item_id, i.external_id, i.request, i.expected, i.metadata, i.split, i.cluster, i.source_request_id,
  i.erased_at is not null as is_erased`;

const bytesOf = (tx: TransactionSql) => tx`
  coalesce(octet_length(i.request), 0) + coalesce(octet_length(i.expected), 0) + octet_length(i.metadata)`;

/** Holds for the rows of a version. */
const inVersion = (tx: TransactionSql, version: number) => tx`
  i.from_version <= ${version} and (i.to_version is null or i.to_version > ${version})`;

/** Bytes of the items of a page; it holds one item at least. */
const PAGE_BYTES = 8 * 1024 * 1024;

/** A row of a page; `found` counts the rows before the page was cut, of which it has one more where there is another page. */
type OfPage<Row> = Row & { found: number };
type Page<Row> = { rows: Row[]; isLast: boolean };

function pageOf<Row>(rows: OfPage<Row>[]): Page<Row> {
  return { rows, isLast: rows.length === 0 || rows[0]!.found === rows.length };
}

/** Windows over the candidates of a page, which are ordered by id and have `bytes`. */
const pageColumns = (tx: TransactionSql) => tx`
  count(*) over ()::int4 as found, row_number() over (order by item_id) as place,
  sum(bytes) over (order by item_id rows between unbounded preceding and 1 preceding) as bytes_before`;
const onPage = (tx: TransactionSql, limit: number) => tx`
  place <= ${limit} and coalesce(bytes_before, 0) < ${PAGE_BYTES} order by item_id`;

export type ItemSearch = {
  version: number;
  split: string | null;
  cluster: string | null;
  search: string;
  after: string;
};

/** Lists items of a version in the order of their ids, behind `after`: up to `limit`, and up to 8 MiB. */
export async function listItems(
  tx: TransactionSql,
  datasetId: string,
  { version, split, cluster, search, after }: ItemSearch,
  limit: number,
): Promise<Page<ItemRow>> {
  const pattern = containing(search);
  const rows = await tx<OfPage<ItemRow>[]>`
    select ${itemColumns(tx)}, found from (
      select i.*, ${pageColumns(tx)} from (
        select i.*, ${bytesOf(tx)} as bytes from assay.dataset_items i
         where i.dataset_id = ${datasetId} and ${inVersion(tx, version)} and i.item_id > ${after}
           ${split === null ? tx`` : tx`and i.split = ${split}`}
           ${cluster === null ? tx`` : tx`and i.cluster = ${cluster}`}
           ${
             search === ''
               ? tx``
               : tx`and (i.external_id collate "default" ilike ${pattern} or i.request ilike ${pattern}
                      or i.expected ilike ${pattern})`
           }
         order by i.item_id limit ${limit + 1}) i) i
     where ${onPage(tx, limit)}`;
  return pageOf(rows);
}

export async function findItems(
  tx: TransactionSql,
  datasetId: string,
  version: number,
  ids: readonly string[],
): Promise<Map<string, ItemRow>> {
  const rows = await tx<ItemRow[]>`
    select ${itemColumns(tx)} from assay.dataset_items i
     where i.dataset_id = ${datasetId} and i.item_id = any(${[...ids]}::text[]) and ${inVersion(tx, version)}`;
  return new Map(rows.map((row) => [row.item_id, row]));
}

/** An item that two versions do not have in the same form. */
export type DifferenceRow = { item_id: string; change: ItemChange };
export type DifferenceCounts = Record<ItemChange, number>;

const differences = (tx: TransactionSql, datasetId: string, from: number, to: number) => tx`
  select coalesce(a.item_id, b.item_id) as item_id, coalesce(a.bytes, 0) + coalesce(b.bytes, 0) as bytes,
         case when a.item_id is null then 'added' when b.item_id is null then 'removed' else 'changed' end as change
    from (select i.item_id, i.content_sha256, ${bytesOf(tx)} as bytes
            from assay.dataset_items i where i.dataset_id = ${datasetId} and ${inVersion(tx, from)}) a
    full join
         (select i.item_id, i.content_sha256, ${bytesOf(tx)} as bytes
            from assay.dataset_items i where i.dataset_id = ${datasetId} and ${inVersion(tx, to)}) b using (item_id)
   where a.content_sha256 is distinct from b.content_sha256`;

export async function countDifferences(
  tx: TransactionSql,
  datasetId: string,
  from: number,
  to: number,
): Promise<DifferenceCounts> {
  const [row] = await tx<DifferenceCounts[]>`
    select count(*) filter (where change = 'added')::int4 as added,
           count(*) filter (where change = 'changed')::int4 as changed,
           count(*) filter (where change = 'removed')::int4 as removed
      from (${differences(tx, datasetId, from, to)}) d`;
  return row!;
}

/** Lists the differences in the order of their ids, behind `after`: up to `limit`, and up to 8 MiB of items. */
export async function listDifferences(
  tx: TransactionSql,
  datasetId: string,
  { from, to, after, limit }: { from: number; to: number; after: string; limit: number },
): Promise<Page<DifferenceRow>> {
  const rows = await tx<OfPage<DifferenceRow>[]>`
    select item_id, change, found from (
      select d.*, ${pageColumns(tx)} from (
        select * from (${differences(tx, datasetId, from, to)}) d where item_id > ${after}
         order by item_id limit ${limit + 1}) d) d
     where ${onPage(tx, limit)}`;
  return pageOf(rows);
}
