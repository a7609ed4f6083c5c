import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  DatasetChangeBody,
  DatasetIdJson,
  DatasetJson,
  DatasetPage,
  DatasetQueryBody,
  DatasetVersionPage,
  DiffBody,
  DiffJson,
  ItemChangesJson,
  ItemPage,
  ItemParameters,
  ItemQueryBody,
  ItemRemovalBody,
  ItemRemovalJson,
  ItemsBody,
  MAX_ITEMS_BODY_BYTES,
  NewDatasetBody,
  StoredDatasetItem,
  VersionListParameters,
} from '#core/contracts/dataset.ts';
import {
  ExportParameters,
  FromRequestsBody,
  FromRequestsJson,
  ImportBody,
} from '#core/contracts/dataset-sources.ts';
import type { DatasetService } from '../datasets/mod.ts';
import { authorized, type Keys } from './access.ts';
import { idAndName, jsonBody, jsonBodyAsWritten, parameters, reply, textReply, uuids } from './declare.ts';
import { dataReply, exportReply } from './reply.ts';

export type DatasetRoutesOptions = {
  keys: Keys;
  datasets: DatasetService;
  /** Receives the error that ended an export after its beginning was sent. */
  onBroken(error: unknown): void;
};

const TAG = 'Datasets';
const params = uuids({ id: 'dataset' });
const item = {
  externalId: 'refund-1',
  request: { messages: [{ role: 'user', content: 'May I return an opened box?' }] },
  expected: 'Yes, within 30 days',
  metadata: { source: 'help desk' },
  split: 'test',
};

/** Datasets, without their items. */
function datasetsThemselves({ keys, datasets: { datasets } }: DatasetRoutesOptions) {
  const reading = authorized(keys, 'read', TAG)
    .post('/v1/dataset/query', ({ key, body }) => datasets.query(key.organizationId, body), {
      body: jsonBody(DatasetQueryBody, { search: 'refund', limit: 10 }),
      response: reply(DatasetPage),
      detail: { summary: 'Lists datasets, the newest first' },
    })
    .get('/v1/dataset/:id', ({ key, params }) => datasets.get(key.organizationId, params.id), {
      params,
      response: reply(DatasetJson),
      detail: { summary: 'Returns one dataset, without its items' },
    });
  const writing = authorized(keys, 'write', TAG)
    .post('/v1/dataset', ({ key, body }) => datasets.create(key.organizationId, body), {
      body: jsonBody(NewDatasetBody, { name: 'refunds', expectedSchema: { type: 'string' } }),
      response: reply(DatasetIdJson),
      detail: { summary: 'Makes a dataset without items' },
    })
    .patch(
      '/v1/dataset/:id',
      ({ key, params, body }) => datasets.change(key.organizationId, params.id, body),
      {
        params,
        body: jsonBody(DatasetChangeBody, { description: 'Calls about refunds' }),
        response: reply(DatasetJson),
        detail: { summary: 'Changes the name, the description or the schemas of a dataset' },
      },
    )
    .delete('/v1/dataset/:id', ({ key, params }) => datasets.archive(key.organizationId, params.id), {
      params,
      response: reply(Type.Null()),
      detail: { summary: 'Archives a dataset: it can be read, not changed, and its name is free' },
    });
  return new Elysia({ name: 'api/datasets/datasets' }).use(reading).use(writing);
}

function itemChanges({ keys, datasets: { items, fromRequests } }: DatasetRoutesOptions) {
  return authorized(keys, 'write', TAG)
    .post('/v1/dataset/:id/items', ({ key, params, body }) => items.put(key, params.id, body), {
      params,
      body: jsonBodyAsWritten(
        ItemsBody,
        { items: [item], message: 'The first of the help desk' },
        { maxBytes: MAX_ITEMS_BODY_BYTES, asWritten: [['items']] },
      ),
      response: reply(ItemChangesJson),
      detail: { summary: 'Stores items: all that changes is one new version' },
    })
    .post('/v1/dataset/:id/items/remove', ({ key, params, body }) => items.remove(key, params.id, body), {
      params,
      body: jsonBody(ItemRemovalBody, { externalIds: ['refund-2'] }),
      response: reply(ItemRemovalJson),
      detail: { summary: 'Removes items from the next version on; earlier ones keep them' },
    })
    .post('/v1/dataset/:id/items/import', ({ key, params, body }) => items.importFile(key, params.id, body), {
      params,
      body: jsonBodyAsWritten(
        ImportBody,
        {
          format: 'csv',
          text: 'question,expected\nMay I?,yes\n',
          mapping: { columns: { question: 'input' } },
        },
        { maxBytes: MAX_ITEMS_BODY_BYTES, asWritten: [['text']] },
      ),
      response: reply(ItemChangesJson),
      detail: { summary: 'Stores the items of a file: all of them or none' },
    })
    .post(
      '/v1/dataset/:id/items/from-requests',
      ({ key, params, body }) => fromRequests(key, params.id, body),
      {
        params,
        body: jsonBody(FromRequestsBody, {
          filter: { request: { model: { equals: 'gpt-4o-mini' } } },
          sample: { n: 100, seed: 1 },
          expected: 'answer',
          split: 'test',
          dryRun: true,
        }),
        response: reply(FromRequestsJson),
        detail: { summary: 'Makes items of logged requests, or tells with dryRun what they would be' },
      },
    );
}

const versionOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));

function itemQueries({ keys, datasets: { items, versions, exportItems }, onBroken }: DatasetRoutesOptions) {
  const ofItem = idAndName('dataset', 'itemId');
  return authorized(keys, 'read', TAG)
    .post(
      '/v1/dataset/:id/items/query',
      async ({ key, params, body }) => dataReply(await items.query(key.organizationId, params.id, body)),
      {
        params,
        body: jsonBody(ItemQueryBody, { split: 'test', limit: 50 }),
        response: reply(ItemPage),
        detail: { summary: 'Lists the items of a version' },
      },
    )
    .get(
      '/v1/dataset/:id/items/:itemId',
      async ({ key, params, query: { version } }) =>
        dataReply(await items.get(key.organizationId, params, versionOf(version))),
      {
        params: ofItem,
        query: parameters(ItemParameters),
        response: reply(StoredDatasetItem),
        detail: { summary: 'Returns one item as it is in a version' },
      },
    )
    .get(
      '/v1/dataset/:id/export',
      async ({ key, admit, params, query: { version } }) =>
        exportReply(await exportItems(key.organizationId, params.id, versionOf(version)), {
          admit,
          onBroken,
        }),
      {
        params,
        query: parameters(ExportParameters),
        response: textReply({ 'application/x-ndjson': 'An item a line, as import takes it' }),
        detail: { summary: 'Streams the items of a version' },
      },
    )
    .get(
      '/v1/dataset/:id/versions',
      ({ key, params, query }) => versions.list(key.organizationId, params.id, query),
      {
        params,
        query: parameters(VersionListParameters),
        response: reply(DatasetVersionPage),
        detail: { summary: 'Lists the versions of a dataset, the newest first' },
      },
    )
    .post(
      '/v1/dataset/:id/diff',
      async ({ key, params, body }) => dataReply(await versions.diff(key.organizationId, params.id, body)),
      {
        params,
        body: jsonBody(DiffBody, { from: 0, to: 1 }),
        response: reply(DiffJson),
        detail: { summary: 'Lists what differs between two versions' },
      },
    );
}

/** `/v1/dataset…`: datasets, their items and versions. */
export function datasetRoutes(options: DatasetRoutesOptions) {
  return new Elysia({ name: 'api/datasets' })
    .use(datasetsThemselves(options))
    .use(itemChanges(options))
    .use(itemQueries(options));
}
