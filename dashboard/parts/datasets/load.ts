/** Datasets, as several pages load them. */
import type {
  DatasetJson,
  DatasetPage,
  DatasetQueryBody,
  DatasetVersionPage,
  ItemPage,
  ItemQueryBody,
} from '#core/contracts/dataset.ts';
import { call } from '../../client/call.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import { type AddressChanges, href } from '../../state/address.ts';
import { type Choices, MOST_CHOICES } from '../form/choices.ts';

/** Versions or items of one answer: the most that the API returns. */
export const MOST_LISTED = 200;

/** Returns the API's path of a dataset, or of something below it. */
export function datasetPath(id: string, rest = ''): string {
  return `/v1/dataset/${encodeURIComponent(id)}${rest}`;
}

/** Returns the address of a dataset's page. */
export function datasetAddress(id: string, query: AddressChanges = {}): string {
  return href(`/datasets/${encodeURIComponent(id)}`, query);
}

/** The datasets that are not archived. */
export const DATASETS: Choices<DatasetJson> = {
  key: 'datasets',
  find: async (search, signal) => {
    const body: DatasetQueryBody = { search, limit: MOST_CHOICES };
    return (await call<DatasetPage>('POST', '/v1/dataset/query', body, signal)).datasets;
  },
  load: (id, signal) => call<DatasetJson>('GET', datasetPath(id), undefined, signal),
};

/** Loads the newest versions of a dataset; null: of none. */
export function useDatasetVersions(id: string | null): Resource<DatasetVersionPage> {
  return useResource(id === null ? null : `dataset versions ${id}`, (signal) =>
    call<DatasetVersionPage>(
      'GET',
      `${datasetPath(id ?? '', '/versions')}?limit=${MOST_LISTED}`,
      undefined,
      signal,
    ),
  );
}

/** Loads a page of items. */
export function loadItems(id: string, query: ItemQueryBody, signal?: AbortSignal): Promise<ItemPage> {
  return call<ItemPage>('POST', datasetPath(id, '/items/query'), query, signal);
}
