/** The page /datasets/:id: the items of a dataset and its versions, with one item in a drawer. */
import { useState } from 'preact/hooks';
import type { DatasetJson, NewDatasetBody } from '#core/contracts/dataset.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { datasetPath, useDatasetVersions } from '../../parts/datasets/load.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { saveAnswer } from '../../parts/download/save-file.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count } from '../../parts/formats/numbers.ts';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { Tabs } from '../../parts/tabs/tabs.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { attempt, tell } from '../../parts/toast/toast.tsx';
import { href, useAddress } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { may } from '../../state/me.ts';
import { DatasetForm } from '../datasets/dataset-form.tsx';
import { readVersion } from './address.ts';
import { ImportDialog } from './import-dialog.tsx';
import { ItemDialog } from './item-dialog.tsx';
import { ItemDrawer } from './item-view.tsx';
import { Items, useItems } from './items.tsx';
import { Versions } from './versions.tsx';
import { exportName } from './words.ts';

type HeadProps = { dataset: DatasetJson; version: number; onChange: () => void };
type Open = 'import' | 'item' | 'edit' | 'archive';

/** The dialogs of what changes a dataset. */
function Dialogs({
  open,
  dataset,
  onChange,
  onClose,
}: Omit<HeadProps, 'version'> & { open: Open; onClose: () => void }) {
  const { id } = dataset;
  const done = () => {
    onChange();
    onClose();
  };
  if (open === 'import') return <ImportDialog id={id} onDone={done} onClose={onClose} />;
  if (open === 'item') return <ItemDialog datasetId={id} item={null} onDone={done} onClose={onClose} />;
  if (open === 'edit') {
    const save = async (body: NewDatasetBody) => {
      await call('PATCH', datasetPath(id), body);
      tell('Saved');
      done();
    };
    return (
      <Dialog title="Change the dataset" onClose={onClose}>
        <DatasetForm verb="Save" dataset={dataset} save={save} />
      </Dialog>
    );
  }
  return (
    <Confirm
      title="Archive the dataset?"
      text="It can be read, and experiments over it stay. It cannot be changed any more, and its name is free."
      verb="Archive"
      run={async () => {
        await call('DELETE', datasetPath(id));
        tell('Archived');
        onChange();
      }}
      onClose={onClose}
    />
  );
}

function Head({ dataset, version, onChange }: HeadProps) {
  const [open, setOpen] = useState<Open | null>(null);
  const { id, name, description, archived_at } = dataset;
  const isChangeable = archived_at === null && may('write');
  const save = () =>
    attempt(
      () =>
        saveAnswer(exportName(name, version), {
          method: 'GET',
          path: datasetPath(id, `/export?version=${version}`),
        }),
      'Exported',
    );
  return (
    <>
      <p class="evaluator-back">
        <a href="/datasets">Datasets</a>
      </p>
      <header class="page-head">
        <h1 class="break">
          <Hostile text={name} />
        </h1>
        {archived_at !== null && <span class="chip chip-warn">Archived</span>}
        {isChangeable && (
          <>
            <button type="button" class="primary" onClick={() => setOpen('import')}>
              Import a file
            </button>
            <button type="button" onClick={() => setOpen('item')}>
              New item
            </button>
            <button type="button" onClick={() => setOpen('edit')}>
              Settings
            </button>
            <button type="button" class="danger" onClick={() => setOpen('archive')}>
              Archive
            </button>
          </>
        )}
        {version > 0 && (
          <button type="button" onClick={save}>
            Export version {version}
          </button>
        )}
      </header>
      {archived_at === null && <MissingScope scope="write" what="Changing a dataset" />}
      {description !== '' && (
        <p class="break">
          <Hostile text={description} />
        </p>
      )}
      <p class="dataset-facts">
        <span>{count(dataset.items)} items</span>
        <span>{dataset.version === 0 ? 'No version' : `Version ${dataset.version}`}</span>
        <a href={href('/experiments', { dataset: id })}>Experiments</a>
        {dataset.version > 0 && may('write') && (
          <a href={href('/experiments/new', { dataset: id, version: String(version) })}>
            New experiment on version {version}
          </a>
        )}
      </p>
      {open !== null && (
        <Dialogs open={open} dataset={dataset} onChange={onChange} onClose={() => setOpen(null)} />
      )}
    </>
  );
}

function OneDataset({ id }: { id: string }) {
  const { query, set } = useAddress();
  const dataset = useResource(`dataset ${id}`, (signal) =>
    call<DatasetJson>('GET', datasetPath(id), undefined, signal),
  );
  const versions = useDatasetVersions(id);
  const items = useItems(id);
  const reload = () => {
    dataset.reload();
    versions.reload();
    items.reload();
  };
  const closeItem = () => set({ item: null });
  useKeys('Dataset', query.item === undefined ? {} : { Escape: { what: 'Close the item', run: closeItem } });
  const { data } = dataset;
  const version = readVersion(query.version);
  const list = versions.data?.versions ?? [];
  const isNewest = data !== null && (version === null || version === data.version);
  return (
    <div class="beside">
      <div class="beside-main">
        <FailureNotice
          failure={dataset.failure ?? versions.failure}
          retry={dataset.failure === null ? versions.reload : dataset.reload}
        />
        {data === null && dataset.isLoading && <p class="muted">Loading the dataset …</p>}
        {data !== null && (
          <>
            <Head dataset={data} version={version ?? data.version} onChange={reload} />
            <Tabs
              label="Parts of the dataset"
              tabs={[
                { name: 'items', title: 'Items', show: () => <Items versions={list} items={items} /> },
                {
                  name: 'versions',
                  title: 'Versions',
                  show: () => <Versions id={id} versions={list} isLoading={versions.isLoading} />,
                },
              ]}
            />
          </>
        )}
      </div>
      {query.item !== undefined && dataset.failure === null && (
        <ItemDrawer
          datasetId={id}
          itemId={query.item}
          version={version}
          isChangeable={isNewest && data.archived_at === null && may('write')}
          onChanged={reload}
          onClose={closeItem}
        />
      )}
    </div>
  );
}

/** Shows the dataset of the address. */
export function DatasetPage({ id }: { id: string }) {
  return <OneDataset key={id} id={id} />;
}
