/** Lists the versions of a dataset, and compares two of them. */
import type { Static } from '@sinclair/typebox';
import {
  type DatasetVersionPage,
  type DiffBody,
  MAX_VERSIONS,
  type VersionListParameters,
} from '#core/contracts/dataset.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import { type Context, requireDataset, requireVersion } from './context.ts';
import { listVersions } from './dataset-store.ts';
import { itemText } from './item-json.ts';
import { countDifferences, findItems, type ItemRow, listDifferences } from './item-store.ts';

/** The work on versions, for one organization at a time. An unknown dataset or version is a not_found. */
export type Versions = {
  /** The highest number first. */
  list(
    organizationId: string,
    datasetId: string,
    parameters: Static<typeof VersionListParameters>,
  ): Promise<Static<typeof DatasetVersionPage>>;
  /** Two versions' differences as JSON text. Version 0 is the empty dataset. */
  diff(organizationId: string, datasetId: string, body: DiffBody): Promise<string>;
};

const DEFAULT_LIMIT = 50;

export function createVersions({ sql }: Context): Versions {
  return {
    async list(organizationId, datasetId, { limit: given, after }) {
      const limit = given === undefined ? DEFAULT_LIMIT : Number(given);
      const before = after === undefined ? MAX_VERSIONS + 1 : Number(after);
      const rows = await inOrganization(sql, organizationId, async (tx) => {
        await requireDataset(tx, organizationId, datasetId);
        return listVersions(tx, datasetId, { before, limit: limit + 1 });
      });
      const page = rows.slice(0, limit);
      return {
        versions: page.map((row) => ({ ...row, created_at: row.created_at.toISOString() })),
        next: rows.length > limit ? String(page.at(-1)!.version) : null,
      };
    },

    async diff(organizationId, datasetId, { from, to, limit = DEFAULT_LIMIT, after = '' }) {
      return inOrganization(sql, organizationId, async (tx) => {
        const dataset = await requireDataset(tx, organizationId, datasetId);
        requireVersion(dataset, from);
        requireVersion(dataset, to);
        const counts = await countDifferences(tx, datasetId, from, to);
        const wanted = { from, to, after: storableText(after), limit };
        const { rows, isLast } = await listDifferences(tx, datasetId, wanted);
        const ids = rows.map(({ item_id }) => item_id);
        const before = await findItems(tx, datasetId, from, ids);
        const later = await findItems(tx, datasetId, to, ids);
        const items = rows.map(({ item_id, change }) => {
          const [old, now] = [before.get(item_id), later.get(item_id)];
          const externalId = now?.external_id ?? old?.external_id ?? null;
          const head = JSON.stringify({ id: item_id, externalId, change });
          return `${head.slice(0, -1)},"before":${textOrNull(old)},"after":${textOrNull(now)}}`;
        });
        const next = isLast ? null : rows.at(-1)!.item_id;
        const head = JSON.stringify({ ...counts });
        return `${head.slice(0, -1)},"items":[${items.join(',')}],"next":${JSON.stringify(next)}}`;
      });
    },
  };
}

const textOrNull = (row: ItemRow | undefined) => (row === undefined ? 'null' : itemText(row));
