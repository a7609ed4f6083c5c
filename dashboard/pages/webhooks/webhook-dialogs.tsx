/** The dialogs of webhooks; the address names the one that is open. */
import { useState } from 'preact/hooks';
import type { NewWebhookJson, WebhookJson } from '#core/contracts/webhook.ts';
import { call } from '../../client/call.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Form } from '../../parts/form/form.tsx';
import { Select } from '../../parts/form/select.tsx';
import { tell } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { WebhookForm } from './webhook-form.tsx';

const OVERLAPS = [
  { name: '0', label: 'The old secret ends at once' },
  { name: '3600', label: 'Both sign for 1 hour' },
  { name: '86400', label: 'Both sign for 1 day' },
  { name: '604800', label: 'Both sign for 7 days' },
];

type Made = { onMade: (made: NewWebhookJson) => void };

function Rotate({ webhook, onClose, onMade }: Made & { webhook: WebhookJson; onClose: () => void }) {
  const [overlap, setOverlap] = useState('86400');
  const rotate = async () =>
    onMade(
      await call<NewWebhookJson>('POST', `/v1/webhook/${webhook.id}/rotate`, {
        overlapSeconds: Number(overlap),
      }),
    );
  return (
    <Dialog title="Create a new secret" onClose={onClose}>
      <Form verb="Create secret" onSubmit={rotate}>
        <Select label="Meanwhile" options={OVERLAPS} value={overlap} onChange={setOverlap} />
      </Form>
    </Dialog>
  );
}

/** Creates a webhook; changes, rotates and deletes the one that is open. */
export function WebhookDialogs({
  webhook,
  reload,
  onMade,
}: Made & { webhook: WebhookJson | null; reload: () => void }) {
  const { query, set, go } = useAddress();
  const close = () => set({ new: null, do: null });
  const show = (made: NewWebhookJson) => {
    close();
    reload();
    onMade(made);
  };
  if (query.new !== undefined) {
    return (
      <Dialog title="Create a webhook" onClose={close}>
        <WebhookForm
          verb="Create webhook"
          webhook={null}
          save={async (body) => show(await call<NewWebhookJson>('POST', '/v1/webhook', body))}
        />
      </Dialog>
    );
  }
  if (webhook === null) return null;
  const path = `/v1/webhook/${webhook.id}`;
  if (query.do === 'rotate') return <Rotate webhook={webhook} onClose={close} onMade={show} />;
  if (query.do === 'edit') {
    const save = async (body: object) => {
      await call('PATCH', path, body);
      tell('Saved');
      reload();
      close();
    };
    return (
      <Dialog title="Change the webhook" onClose={close}>
        <WebhookForm verb="Save" webhook={webhook} save={save} />
      </Dialog>
    );
  }
  if (query.do !== 'delete') return null;
  return (
    <Confirm
      title="Delete the webhook?"
      text="It goes with all its deliveries, those that wait included. This cannot be taken back."
      verb="Delete"
      run={async () => {
        await call('DELETE', path);
        tell('Deleted');
        reload();
        go('/webhooks');
      }}
      onClose={close}
    />
  );
}
