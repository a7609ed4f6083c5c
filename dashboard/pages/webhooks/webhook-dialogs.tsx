/** The dialogs of webhooks; the address names the one that is open. */
import { useState } from 'preact/hooks';
import type { NewWebhookJson, RedeliverBody, RedeliveredJson, WebhookJson } from '#core/contracts/webhook.ts';
import { call } from '../../client/call.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Form } from '../../parts/form/form.tsx';
import { Select } from '../../parts/form/select.tsx';
import { plural } from '../../parts/formats/numbers.ts';
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

/** How far back failed deliveries are made again, in milliseconds; none: all that are kept. */
const SINCE = [
  { name: '3600000', label: 'In the last hour' },
  { name: '86400000', label: 'In the last day' },
  { name: '604800000', label: 'In the last 7 days' },
  { name: '', label: 'At any time' },
];

function Redeliver({ path, onClose, reload }: { path: string; onClose: () => void; reload: () => void }) {
  const [since, setSince] = useState('86400000');
  const redeliver = async () => {
    const fromMs = since === '' ? 0 : Date.now() - Number(since);
    const body: RedeliverBody = { since: new Date(fromMs).toISOString() };
    const { redelivered, remaining } = await call<RedeliveredJson>('POST', `${path}/redeliver`, body);
    const left =
      remaining === 0 ? '' : `; ${plural(remaining, 'other')} must wait, because too many are under way`;
    tell(
      redelivered === 0
        ? 'No delivery failed in that time'
        : `${plural(redelivered, 'delivery', 'deliveries')} made again${left}`,
    );
    reload();
    onClose();
  };
  return (
    <Dialog title="Redeliver what failed" onClose={onClose}>
      <Form verb="Redeliver" onSubmit={redeliver}>
        <Select label="Deliveries that failed" options={SINCE} value={since} onChange={setSince} />
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
  if (query.do === 'redeliver') return <Redeliver path={path} onClose={close} reload={reload} />;
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
