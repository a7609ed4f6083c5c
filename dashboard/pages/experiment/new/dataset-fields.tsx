/** The dataset of a new experiment, its version and split. */
import { useResource } from '../../../client/resource.ts';
import { DATASETS, loadItems, MOST_LISTED, useDatasetVersions } from '../../../parts/datasets/load.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { Chooser } from '../../../parts/form/chooser.tsx';
import { Select } from '../../../parts/form/select.tsx';
import { TextField } from '../../../parts/form/text-field.tsx';
import { plural } from '../../../parts/formats/numbers.ts';
import type { FieldsProps } from './target-fields.tsx';

const SPLITS = 'experiment-splits';

/** Splits of the first items: the API has no list of all. */
function useSplits({ datasetId, version }: FieldsProps['fields']): string[] {
  const key = datasetId === '' ? null : `splits ${datasetId} ${version}`;
  const { data } = useResource(key, async (signal) => {
    const query = { limit: MOST_LISTED, ...(version !== '' && { version: Number(version) }) };
    const { items } = await loadItems(datasetId, query, signal);
    return [...new Set(items.flatMap((item) => ('erased' in item ? [] : (item.split ?? []))))].toSorted();
  });
  return data ?? [];
}

/** Says how many answers the choice needs; undefined: it is not known. */
function useSize({ datasetId, version, split, repetitions }: FieldsProps['fields']) {
  const versions = useDatasetVersions(datasetId === '' ? null : datasetId);
  const list = versions.data?.versions ?? [];
  const chosen = list.find((one) => String(one.version) === version) ?? list[0];
  const times = Number(repetitions) || 1;
  const size =
    chosen === undefined || split !== ''
      ? undefined
      : `${plural(chosen.items, 'item')}${times > 1 ? `, ${plural(chosen.items * times, 'answer')}` : ''}`;
  return { versions, list, size };
}

/** Shows the choices. */
export function DatasetFields({ fields, change }: FieldsProps) {
  const { versions, list, size } = useSize(fields);
  const splits = useSplits(fields);
  return (
    <>
      <FailureNotice failure={versions.failure} retry={versions.reload} />
      <div class="field-row">
        <Chooser
          label="Dataset"
          choices={DATASETS}
          none="Choose a dataset"
          value={fields.datasetId}
          onChange={(datasetId) => change({ datasetId, version: '', split: '' })}
          empty="There is no dataset yet."
        />
        <Select
          label="Version"
          options={[
            { name: '', label: 'The newest' },
            ...list.map(({ version, message }) => ({
              name: String(version),
              label: [`Version ${version}`, message.slice(0, 60)].filter(Boolean).join(' · '),
            })),
          ]}
          value={fields.version}
          onChange={(version) => change({ version })}
          hint={size}
        />
        <TextField
          label="Split"
          list={SPLITS}
          value={fields.split}
          onInput={(split) => change({ split })}
          hint="Empty: all items"
        />
        <datalist id={SPLITS}>
          {splits.map((split) => (
            <option key={split} value={split} />
          ))}
        </datalist>
      </div>
    </>
  );
}
