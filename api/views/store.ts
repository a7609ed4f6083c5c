/** Statements on saved views, for one organization at a time: `tx` runs under the role `assay_api`. */
import type { ViewPage } from '#core/contracts/view.ts';
import { lockName, type TransactionSql } from '#platform/postgres/mod.ts';

export type ViewRow = {
  view_id: string;
  page: ViewPage;
  name: string;
  query: string;
  created_at: Date;
  updated_at: Date;
};

/** Fields of a view that its owners choose, with its name as it is compared. */
export type ViewSettings = Pick<ViewRow, 'name' | 'query'> & { foldedName: string };

/** Makes the changes of an organization's views wait for each other until the transaction ends. */
export async function lockViews(tx: TransactionSql, organizationId: string): Promise<void> {
  await lockName(tx, `views ${organizationId}`);
}

/** Lists views by page and name; those of one page, unless it is null. */
export function selectViews(
  tx: TransactionSql,
  organizationId: string,
  page: ViewPage | null,
): Promise<ViewRow[]> {
  return tx<ViewRow[]>`
    select view_id, page, name, query, created_at, updated_at from assay.views
     where organization_id = ${organizationId} and (${page}::text is null or page = ${page})
     order by page collate "C", folded_name`;
}

export async function insertView(
  tx: TransactionSql,
  organizationId: string,
  { page, at, ...settings }: ViewSettings & { page: ViewPage; at: Date },
): Promise<ViewRow> {
  const [row] = await tx<[ViewRow]>`
    insert into assay.views (organization_id, page, name, folded_name, query, created_at, updated_at)
    values (${organizationId}, ${page}, ${settings.name}, ${settings.foldedName}, ${settings.query}, ${at}, ${at})
    returning view_id, page, name, query, created_at, updated_at`;
  return row;
}

export async function updateView(
  tx: TransactionSql,
  organizationId: string,
  { viewId, at, ...settings }: ViewSettings & { viewId: string; at: Date },
): Promise<ViewRow> {
  const [row] = await tx<[ViewRow]>`
    update assay.views
       set name = ${settings.name}, folded_name = ${settings.foldedName}, query = ${settings.query}, updated_at = ${at}
     where organization_id = ${organizationId} and view_id = ${viewId}
    returning view_id, page, name, query, created_at, updated_at`;
  return row;
}

/** Returns whether there was such a view. */
export async function deleteView(
  tx: TransactionSql,
  organizationId: string,
  viewId: string,
): Promise<boolean> {
  const { count } = await tx`
    delete from assay.views where organization_id = ${organizationId} and view_id = ${viewId}`;
  return count === 1;
}
