/** Stores, removes and finds items. */
import type {
  ItemChangesJson,
  ItemQueryBody,
  ItemRemovalBody,
  ItemRemovalJson,
  ItemsBody,
} from '#core/contracts/dataset.ts';
import type { ImportBody } from '#core/contracts/dataset-sources.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import type { ReadItem } from '#core/datasets/mod.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import { unknown } from '../ids.ts';
import { checkItems } from './check-items.ts';
import { type Author, type Context, requireDataset, requireLocked, requireVersion } from './context.ts';
import { readFile } from './import.ts';
import { itemText } from './item-json.ts';
import { findItems, findNewest, listItems } from './item-store.ts';
import { readItems } from './read-items.ts';
import { putItems, removeItems } from './write.ts';

/** A body and the JSON text of its items. */
export type SentItems = { body: ItemsBody; written: readonly (Buffer | null)[] };

/** A body and the JSON string of its file. */
export type SentFile = { body: ImportBody; written: readonly (Buffer | null)[] };

/** The work on items, for one organization at a time. An unknown dataset, version or item is a not_found. */
export type Items = {
  put(author: Author, datasetId: string, sent: SentItems): Promise<ItemChangesJson>;
  /** The text of the file is that of a JSON string. */
  importFile(author: Author, datasetId: string, sent: SentFile): Promise<ItemChangesJson>;
  remove(author: Author, datasetId: string, body: ItemRemovalBody): Promise<ItemRemovalJson>;
  /** A page as JSON text. */
  query(organizationId: string, datasetId: string, body: ItemQueryBody): Promise<string>;
  /** An item as JSON text. */
  get(organizationId: string, ids: { id: string; itemId: string }, version?: number): Promise<string>;
};

const DEFAULT_LIMIT = 50;
const textOrNull = (text: string | undefined) => (text === undefined ? null : storableText(text));

export function createItems({ sql, clock }: Context): Items {
  /** Stores all items or none. */
  function store(
    author: Author,
    datasetId: string,
    { message = '', replace = false, split }: Pick<ItemsBody, 'message' | 'replace' | 'split'>,
    items: readonly ReadItem[],
  ): Promise<ItemChangesJson> {
    return inOrganization(sql, author.organizationId, async (tx) => {
      const dataset = await requireLocked(tx, author.organizationId, datasetId);
      await checkItems(dataset, items);
      const writing = { tx, dataset, author, message: storableText(message), nowMs: clock.now() };
      return putItems(writing, items, replace ? { split: textOrNull(split) } : null);
    });
  }

  return {
    async put(author, datasetId, { body, written: [text] }) {
      const items = await readItems(text!, textOrNull(body.split));
      return store(author, datasetId, body, items);
    },

    async importFile(author, datasetId, { body, written: [text] }) {
      const file = { ...body, text: JSON.parse(text!.toString()) as string };
      const items = await readFile(file, textOrNull(body.split));
      return store(author, datasetId, body, items);
    },

    async remove(author, datasetId, { ids = [], externalIds = [], message = '' }) {
      if (ids.length + externalIds.length === 0)
        throw invalidField('ids', 'is required, or externalIds in its place');
      const wanted = { ids: ids.map(storableText), externalIds: externalIds.map(storableText), hashes: [] };
      return inOrganization(sql, author.organizationId, async (tx) => {
        const dataset = await requireLocked(tx, author.organizationId, datasetId);
        const found = await findNewest(tx, datasetId, wanted);
        const writing = { tx, dataset, author, message: storableText(message), nowMs: clock.now() };
        const version = await removeItems(
          writing,
          found.map(({ item_id }) => item_id),
        );
        return { version, removed: found.length };
      });
    },

    async query(organizationId, datasetId, body) {
      const { limit = DEFAULT_LIMIT } = body;
      const { rows, isLast } = await inOrganization(sql, organizationId, async (tx) => {
        const version = requireVersion(await requireDataset(tx, organizationId, datasetId), body.version);
        const search = {
          version,
          split: textOrNull(body.split),
          cluster: textOrNull(body.cluster),
          search: storableText(body.search ?? ''),
          after: storableText(body.after ?? ''),
        };
        return listItems(tx, datasetId, search, limit);
      });
      const next = isLast ? null : rows.at(-1)!.item_id;
      return `{"items":[${rows.map(itemText).join(',')}],"next":${JSON.stringify(next)}}`;
    },

    async get(organizationId, { id, itemId }, wanted) {
      const row = await inOrganization(sql, organizationId, async (tx) => {
        const version = requireVersion(await requireDataset(tx, organizationId, id), wanted);
        return (await findItems(tx, id, version, [storableText(itemId)])).get(storableText(itemId));
      });
      if (row === undefined) throw unknown('item', itemId);
      return itemText(row);
    },
  };
}
