/** Datasets: requests to put to models, with the answers that are expected, in numbered versions that never change. */
import type { Context } from './context.ts';
import { createDatasets, type Datasets } from './datasets.ts';
import { createExport, type ExportItems } from './export.ts';
import { createFromRequests, type FromRequests } from './from-requests.ts';
import { createItems, type Items } from './items.ts';
import { createVersions, type Versions } from './versions.ts';

export type { Chosen } from './choose-requests.ts';
export { createDataset } from './datasets.ts';
export { chooseRequests, putRequests } from './from-requests.ts';

/** The work behind the routes of `/v1/dataset`, for one organization at a time. Bodies fit their schema. */
export type DatasetService = {
  datasets: Datasets;
  items: Items;
  versions: Versions;
  fromRequests: FromRequests;
  exportItems: ExportItems;
};

export function createDatasetService(context: Context): DatasetService {
  return {
    datasets: createDatasets(context),
    items: createItems(context),
    versions: createVersions(context),
    fromRequests: createFromRequests(context),
    exportItems: createExport(context),
  };
}
