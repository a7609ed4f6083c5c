/** The form of an item: a new one, or another content of one that is there. */
import { useState } from 'preact/hooks';
import type { DatasetItem, ItemChangesJson, ItemsBody } from '#core/contracts/dataset.ts';
import { call } from '../../client/call.ts';
import { datasetPath } from '../../parts/datasets/load.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Form } from '../../parts/form/form.tsx';
import { Select } from '../../parts/form/select.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { tell } from '../../parts/toast/toast.tsx';
import { type ExpectedKind, type ItemFields, itemFaults, itemFields, itemOf } from './item-fields.ts';
import { changesText } from './words.ts';

const KINDS = [
  { name: 'text', label: 'A text' },
  { name: 'json', label: 'JSON' },
  { name: 'none', label: 'Nothing' },
];

export type ItemDialogProps = {
  datasetId: string;
  /** Null: a new one. */
  item: (DatasetItem & { id: string }) | null;
  onClose: () => void;
  onDone: () => void;
};

/** Stores the item, which makes the next version, and says so. */
export function ItemDialog({ datasetId, item, onClose, onDone }: ItemDialogProps) {
  const [fields, setFields] = useState(() => itemFields(item));
  const [message, setMessage] = useState('');
  const change = (changes: Partial<ItemFields>) => setFields((before) => ({ ...before, ...changes }));
  const faults = itemFaults(fields);
  const text = (name: 'externalId' | 'split' | 'cluster', label: string) => (
    <TextField label={label} value={fields[name]} onInput={(value) => change({ [name]: value })} />
  );
  const store = async () => {
    const body: ItemsBody = {
      items: [itemOf(fields, item?.id ?? null)],
      ...(message !== '' && { message }),
    };
    const changes = await call<ItemChangesJson>('POST', datasetPath(datasetId, '/items'), body);
    tell(changesText(changes));
    onDone();
  };
  return (
    <Dialog title={item === null ? 'New item' : 'Edit the item'} onClose={onClose} isWide>
      <Form verb="Save" onSubmit={store} isReady={Object.values(faults).every((fault) => fault === null)}>
        <div class="field-row">
          {text('externalId', 'Name')}
          {text('split', 'Split')}
          {text('cluster', 'Cluster')}
        </div>
        <TextField
          label="Request (JSON)"
          isMono
          lines={8}
          value={fields.request}
          onInput={(request) => change({ request })}
          hint="The body of a chat completion, or inputs alone for a stored prompt"
          fault={faults.request}
        />
        <Select
          label="What is expected"
          options={KINDS}
          value={fields.expectedKind}
          onChange={(kind) => change({ expectedKind: kind as ExpectedKind })}
        />
        {fields.expectedKind !== 'none' && (
          <TextField
            label="Expected"
            isMono={fields.expectedKind === 'json'}
            lines={4}
            value={fields.expected}
            onInput={(expected) => change({ expected })}
            fault={faults.expected}
          />
        )}
        <TextField
          label="Metadata (JSON)"
          isMono
          lines={2}
          value={fields.metadata}
          onInput={(metadata) => change({ metadata })}
          hint="Empty: none"
          fault={faults.metadata}
        />
        <TextField label="Message" value={message} onInput={setMessage} hint="What the version is for" />
      </Form>
    </Dialog>
  );
}
