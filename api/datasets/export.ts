/** The items of a version as JSON Lines, a page at a time as the client reads. No connection is held meanwhile. */
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { createExportPlaces, type ExportStream } from '../requests/mod.ts';
import { type Context, requireDataset, requireVersion } from './context.ts';
import { itemText } from './item-json.ts';
import { listItems } from './item-store.ts';

/** Without `version`: the newest. Erased items are left out. */
export type ExportItems = (
  organizationId: string,
  datasetId: string,
  version: number | undefined,
) => Promise<ExportStream>;

/** Items of one piece, which the bytes of a page bound as well. */
const PAGE = 500;

/** @throws AssayError not_found, too_many_exports */
export function createExport({ sql }: Context): ExportItems {
  const takePlace = createExportPlaces('exports of datasets');

  return async (organizationId, datasetId, wanted) => {
    const version = await inOrganization(sql, organizationId, async (tx) =>
      requireVersion(await requireDataset(tx, organizationId, datasetId), wanted),
    );
    const search = { version, split: null, cluster: null, search: '' };
    let after: string | null = '';
    const endExport = takePlace(organizationId);

    async function next(): Promise<string | null> {
      while (after !== null) {
        const from: string = after;
        const page = async (tx: TransactionSql) => {
          await requireDataset(tx, organizationId, datasetId);
          return listItems(tx, datasetId, { ...search, after: from }, PAGE);
        };
        const { rows, isLast } = await inOrganization(sql, organizationId, page, { isContinued: true });
        after = isLast ? null : rows.at(-1)!.item_id;
        const text = rows.map((row) => (row.is_erased ? '' : `${itemText(row)}\n`)).join('');
        if (text !== '') return text;
      }
      endExport();
      return null;
    }

    return {
      contentType: 'application/x-ndjson',
      next,
      close: () => {
        after = null;
        endExport();
      },
    };
  };
}
