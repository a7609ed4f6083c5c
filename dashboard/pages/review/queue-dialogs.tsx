/** The dialogs of review queues. The address names the one that is open. */
import { useState } from 'preact/hooks';
import type { CriterionJson } from '#core/contracts/grade.ts';
import type { ReviewQueueBody, ReviewQueueJson, WholeReviewQueueJson } from '#core/contracts/review.ts';
import { call } from '../../client/call.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Form } from '../../parts/form/form.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { plural } from '../../parts/formats/numbers.ts';
import { tell } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { QueueForm } from './queue-form.tsx';

export type QueueDialogsProps = {
  queues: readonly ReviewQueueJson[];
  /** Null: they are not loaded. */
  criteria: readonly CriterionJson[] | null;
  onChanged: () => void;
};

type OfQueueProps = { queue: ReviewQueueJson; onClose: () => void; onChanged: () => void };

function Rename({ queue: { id, name: before }, onClose, onChanged }: OfQueueProps) {
  const [name, setName] = useState(before);
  const save = async () => {
    await call('PATCH', `/v1/review-queue/${encodeURIComponent(id)}`, { name });
    tell('Renamed');
    onChanged();
    onClose();
  };
  return (
    <Dialog title="Rename the queue" onClose={onClose}>
      <Form verb="Save" onSubmit={save}>
        <TextField label="Name" isRequired maxLength={100} value={name} onInput={setName} />
      </Form>
    </Dialog>
  );
}

function Archive({ queue: { id, name }, onClose, onChanged }: OfQueueProps) {
  return (
    <Confirm
      title={`Archive ${name}?`}
      text="It gives out no more items, and its name is free. The grades stay."
      verb="Archive"
      run={async () => {
        await call('DELETE', `/v1/review-queue/${encodeURIComponent(id)}`);
        tell('Archived');
        onChanged();
      }}
      onClose={onClose}
    />
  );
}

/** Shows the dialog that the address names. */
export function QueueDialogs({ queues, criteria, onChanged }: QueueDialogsProps) {
  const { query, set } = useAddress();
  const close = () => set({ do: null, queue: null });
  // The form without its fields would have no place for the focus.
  if (query.do === 'new' && criteria !== null) {
    const create = async (body: ReviewQueueBody) => {
      const { progress } = await call<WholeReviewQueueJson>('POST', '/v1/review-queue', body);
      tell(`Made, with ${plural(progress.items, 'item')}`);
      onChanged();
      close();
    };
    return (
      <Dialog title="New queue" isWide onClose={close}>
        <QueueForm criteria={criteria} save={create} />
      </Dialog>
    );
  }
  const queue = queues.find(({ id }) => id === query.queue);
  if (queue === undefined) return null;
  const props = { queue, onClose: close, onChanged };
  if (query.do === 'rename') return <Rename {...props} />;
  return query.do === 'archive' ? <Archive {...props} /> : null;
}
