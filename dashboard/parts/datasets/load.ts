/** Datasets, as several pages load them. */
import type {
  DatasetJson,
  DatasetPage,
  DatasetVersionPage,
  ItemPage,
  ItemQueryBody,
} from '#core/contracts/dataset.ts';
import { call } from '../../client/call.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import { type AddressChanges, href } from '../../state/address.ts';
import type { Option } from '../form/select.tsx';

/** Datasets, versions or items of one answer: the most that the API returns. */
export const MOST_LISTED = 200;

/** Returns the API's path of a dataset, or of something below it. */
export function datasetPath(id: string, rest = ''): string {
  return `/v1/dataset/${encodeURIComponent(id)}${rest}`;
}

/** Returns the address of a dataset's page. */
export function datasetAddress(id: string, query: AddressChanges = {}): string {
  return href(`/datasets/${encodeURIComponent(id)}`, query);
}

/** Loads the newest datasets that are not archived. */
export function useDatasets(): Resource<DatasetJson[]> {
  return useResource('datasets to choose', async (signal) => {
    const { datasets } = await call<DatasetPage>('POST', '/v1/dataset/query', { limit: MOST_LISTED }, signal);
    return datasets;
  });
}

/** Returns the choice of a dataset. One that is not among the newest is named by its id. */
export function datasetOptions(none: string, datasets: readonly DatasetJson[], chosen: string): Option[] {
  const known = datasets.map(({ id, name }) => ({ name: id, label: name }));
  const isOther = chosen !== '' && datasets.every(({ id }) => id !== chosen);
  return [{ name: '', label: none }, ...known, ...(isOther ? [{ name: chosen, label: chosen }] : [])];
}

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
