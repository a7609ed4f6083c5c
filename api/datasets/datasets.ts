/** Creates, finds, changes and archives datasets. */
import { randomUUID } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import {
  type DatasetChangeBody,
  type DatasetIdJson,
  type DatasetJson,
  type DatasetPage,
  type DatasetQueryBody,
  MAX_DATASETS,
  type NewDatasetBody,
} from '#core/contracts/dataset.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { readUuid } from '../ids.ts';
import { refuseTakenName } from '../refuse-taken-name.ts';
import { type Context, requireDataset, requireLocked } from './context.ts';
import {
  countDatasets,
  type DatasetRow,
  findNamed,
  insertDataset,
  listDatasets,
  lockNames,
  updateDataset,
} from './dataset-store.ts';
import { schemaText } from './schema-text.ts';

/** The work on datasets, for one organization at a time. An unknown dataset is a not_found. */
export type Datasets = {
  /** @throws AssayError invalid_body for an invalid schema, conflict when the name is taken */
  create(organizationId: string, body: NewDatasetBody): Promise<Static<typeof DatasetIdJson>>;
  get(organizationId: string, datasetId: string): Promise<DatasetJson>;
  query(organizationId: string, body: DatasetQueryBody): Promise<Static<typeof DatasetPage>>;
  /** The items that are there are not held against a new schema. */
  change(organizationId: string, datasetId: string, body: DatasetChangeBody): Promise<DatasetJson>;
  /** Archiving an archived dataset changes nothing. */
  archive(organizationId: string, datasetId: string): Promise<null>;
};

const DEFAULT_LIMIT = 50;

const parsed = (schema: string | null): unknown => (schema === null ? null : JSON.parse(schema));

function datasetJson(row: DatasetRow): DatasetJson {
  return {
    id: row.dataset_id,
    name: row.name,
    description: row.description,
    requestSchema: parsed(row.request_schema),
    expectedSchema: parsed(row.expected_schema),
    version: row.last_version,
    items: row.items,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    archived_at: row.archived_at?.toISOString() ?? null,
  };
}

/** Returns the columns that a body changes. */
function changesOf({ name, description, requestSchema, expectedSchema }: DatasetChangeBody) {
  return {
    ...(name === undefined ? {} : { name: storableText(name) }),
    ...(description === undefined ? {} : { description: storableText(description) }),
    ...(requestSchema === undefined ? {} : { request_schema: schemaText('requestSchema', requestSchema) }),
    ...(expectedSchema === undefined
      ? {}
      : { expected_schema: schemaText('expectedSchema', expectedSchema) }),
  };
}

/**
 * Makes a dataset without items, and returns its id.
 * @throws AssayError invalid_body for an invalid schema, conflict when the name is taken
 */
export async function createDataset(
  tx: TransactionSql,
  organizationId: string,
  body: NewDatasetBody,
  at: Date,
): Promise<string> {
  const described = {
    name: body.name,
    description: '',
    request_schema: null,
    expected_schema: null,
    ...changesOf(body),
  };
  await lockNames(tx, organizationId);
  refuseTakenName('dataset', described.name, await findNamed(tx, organizationId, described.name), null);
  if ((await countDatasets(tx, organizationId)) >= MAX_DATASETS)
    throw new AssayError('conflict', `An organization can have at most ${MAX_DATASETS} datasets`);
  const datasetId = randomUUID();
  await insertDataset(tx, { ...described, organizationId, datasetId, at });
  return datasetId;
}

export function createDatasets({ sql, clock }: Context): Datasets {
  return {
    create: (organizationId, body) =>
      inOrganization(sql, organizationId, async (tx) => ({
        id: await createDataset(tx, organizationId, body, new Date(clock.now())),
      })),

    async get(organizationId, datasetId) {
      return inOrganization(sql, organizationId, async (tx) =>
        datasetJson(await requireDataset(tx, organizationId, datasetId)),
      );
    },

    async query(organizationId, { search = '', archived = false, limit = DEFAULT_LIMIT, after }) {
      const wanted = {
        search: storableText(search),
        isArchived: archived,
        limit: limit + 1,
        after: after === undefined ? null : readUuid('dataset', after),
      };
      const rows = await inOrganization(sql, organizationId, (tx) =>
        listDatasets(tx, organizationId, wanted),
      );
      const page = rows.slice(0, limit);
      return {
        datasets: page.map(datasetJson),
        next: rows.length > limit ? page.at(-1)!.dataset_id : null,
      };
    },

    async change(organizationId, datasetId, body) {
      const changes = changesOf(body);
      return inOrganization(sql, organizationId, async (tx) => {
        await lockNames(tx, organizationId);
        await requireLocked(tx, organizationId, datasetId);
        if (changes.name !== undefined) {
          const takenBy = await findNamed(tx, organizationId, changes.name);
          refuseTakenName('dataset', changes.name, takenBy, datasetId);
        }
        await updateDataset(tx, datasetId, changes, new Date(clock.now()));
        return datasetJson(await requireDataset(tx, organizationId, datasetId));
      });
    },

    async archive(organizationId, datasetId) {
      await inOrganization(sql, organizationId, async (tx) => {
        const { archived_at } = await requireDataset(tx, organizationId, datasetId);
        if (archived_at !== null) return;
        await requireLocked(tx, organizationId, datasetId);
        const at = new Date(clock.now());
        await updateDataset(tx, datasetId, { archived_at: at }, at);
      });
      return null;
    },
  };
}
