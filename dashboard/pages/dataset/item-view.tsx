/** One item in a drawer: what is asked, what is expected, and where it came from. */
import { useState } from 'preact/hooks';
import type { DatasetItem, ItemRemovalJson, StoredDatasetItem } from '#core/contracts/dataset.ts';
import { type JsonObject, parseExactObject } from '#core/json-values/mod.ts';
import { call, readFailure, send } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { CopyButton } from '../../parts/copy/copy.tsx';
import { datasetPath } from '../../parts/datasets/load.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { SideDrawer } from '../../parts/drawer/side-drawer.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Fact, Facts } from '../../parts/formats/fact.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { tell } from '../../parts/toast/toast.tsx';
import { messageTexts } from '../prompt/message-texts.ts';
import { ItemDialog } from './item-dialog.tsx';

/** UTF-16 code units of a text; the whole is in the export. */
const LONGEST = 64 * 1024;

function LongText({ text }: { text: string }) {
  return (
    <div class="text-plain">
      <Hostile text={text.slice(0, LONGEST)} />
      {text.length > LONGEST && <p class="muted">The beginning; the text is longer.</p>}
    </div>
  );
}

function Json({ value }: { value: unknown }) {
  return (
    <pre class="prompt-json text-plain">
      <LongText text={JSON.stringify(value, null, 2)} />
    </pre>
  );
}

function Request({ request }: { request: JsonObject }) {
  const { messages: _, ...others } = request;
  return (
    <>
      <h2>Request</h2>
      <ol class="draft-messages">
        {messageTexts(request).map(({ role, text }, index) => (
          <li key={index} class="card">
            <strong>
              <Hostile text={role} />
            </strong>
            <LongText text={text} />
          </li>
        ))}
      </ol>
      {Object.keys(others).length > 0 && <Json value={others} />}
    </>
  );
}

/** The facts that an item has. */
function ItemFacts({ item: { id, externalId, split, cluster, sourceRequestId } }: { item: DatasetItem }) {
  const named = { Name: externalId, Split: split, Cluster: cluster };
  return (
    <Facts>
      {Object.entries(named).map(
        ([name, value]) =>
          value !== undefined && (
            <Fact key={name} name={name}>
              <Hostile text={value} />
            </Fact>
          ),
      )}
      <Fact name="Id">
        <code>{id}</code>
      </Fact>
      {sourceRequestId !== undefined && (
        <Fact name="Made from">
          <a href={`/requests/${encodeURIComponent(sourceRequestId)}`}>a logged request</a>
        </Fact>
      )}
    </Facts>
  );
}

function Content({ item }: { item: StoredDatasetItem }) {
  if ('erased' in item) {
    return <p>This item is empty: the request that it was made from was erased.</p>;
  }
  const { expected, metadata, request } = item;
  return (
    <div class="dataset-item">
      <ItemFacts item={item} />
      <Request request={request as JsonObject} />
      <h2>Expected</h2>
      {expected === undefined && <p class="muted">Nothing is expected.</p>}
      {typeof expected === 'string' && (
        <div class="card">
          <LongText text={expected} />
        </div>
      )}
      {expected !== undefined && typeof expected !== 'string' && <Json value={expected} />}
      {Object.keys(metadata).length > 0 && (
        <>
          <h2>Metadata</h2>
          <Json value={metadata} />
        </>
      )}
    </div>
  );
}

/** Loads an item with the digits of its numbers: it may be edited. */
async function loadExactly(path: string, signal: AbortSignal): Promise<StoredDatasetItem> {
  const response = await send('GET', path, undefined, signal);
  if (!response.ok) throw await readFailure(response);
  return parseExactObject(await response.text())!.data as StoredDatasetItem;
}

export type ItemDrawerProps = {
  datasetId: string;
  itemId: string;
  /** Null: the newest. */
  version: number | null;
  /** True: it may be changed, as one of the newest version, by a key that may write. */
  isChangeable: boolean;
  onChanged: () => void;
  onClose: () => void;
};

/** Shows the item of an id as it is in a version. */
export function ItemDrawer({
  datasetId,
  itemId,
  version,
  isChangeable,
  onChanged,
  onClose,
}: ItemDrawerProps) {
  const [open, setOpen] = useState<'remove' | 'edit' | null>(null);
  const rest = `/items/${encodeURIComponent(itemId)}${version === null ? '' : `?version=${version}`}`;
  const key = `dataset item ${datasetId} ${rest}`;
  const { data, dataKey, failure, reload } = useResource(key, (signal) =>
    loadExactly(datasetPath(datasetId, rest), signal),
  );
  const remove = async () => {
    const body = { ids: [itemId] };
    const changed = await call<ItemRemovalJson>('POST', datasetPath(datasetId, '/items/remove'), body);
    tell(`Removed: version ${changed.version}`);
    onClose();
    onChanged();
  };
  const item = data === null || dataKey !== key ? null : data;
  return (
    <SideDrawer
      what="item"
      id={itemId}
      onClose={onClose}
      head={
        <>
          <CopyButton text={itemId} what="id of the item" label="Copy id" />
          {isChangeable && item !== null && (
            <>
              {!('erased' in item) && (
                <button type="button" onClick={() => setOpen('edit')}>
                  Edit
                </button>
              )}
              <button type="button" class="danger" onClick={() => setOpen('remove')}>
                Remove
              </button>
            </>
          )}
        </>
      }
    >
      <FailureNotice failure={failure} retry={reload} />
      {item !== null && <Content item={item} />}
      {open === 'edit' && item !== null && !('erased' in item) && (
        <ItemDialog
          datasetId={datasetId}
          item={item}
          onClose={() => setOpen(null)}
          onDone={() => {
            setOpen(null);
            reload();
            onChanged();
          }}
        />
      )}
      {open === 'remove' && (
        <Confirm
          title="Remove the item?"
          text="From the next version on it is gone. Earlier versions keep it."
          verb="Remove"
          run={remove}
          onClose={() => setOpen(null)}
        />
      )}
    </SideDrawer>
  );
}
