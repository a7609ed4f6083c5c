/** One webhook: its state, what can be done with it, and its deliveries. */
import type { WebhookJson } from '#core/contracts/webhook.ts';
import { call } from '../../client/call.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { attempt } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { Deliveries } from './deliveries.tsx';

function Actions({ webhook, reload }: { webhook: WebhookJson; reload: () => void }) {
  const { set } = useAddress();
  const isPaused = webhook.state === 'paused';
  const path = `/v1/webhook/${webhook.id}`;
  const run = (work: () => Promise<unknown>, success: string) =>
    attempt(async () => {
      await work();
      reload();
    }, success);
  const isBarred = !may('write');
  return (
    <div class="filters">
      <button
        type="button"
        disabled={isBarred || isPaused}
        onClick={() => run(() => call('POST', `${path}/test`), 'A test message is on its way')}
      >
        Send a test
      </button>
      <button
        type="button"
        disabled={isBarred}
        onClick={() =>
          run(
            () => call('PATCH', path, { state: isPaused ? 'active' : 'paused' }),
            isPaused ? 'Resumed' : 'Paused',
          )
        }
      >
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <button type="button" disabled={isBarred} onClick={() => set({ do: 'edit' })}>
        Change
      </button>
      <button type="button" disabled={isBarred} onClick={() => set({ do: 'rotate' })}>
        New secret
      </button>
      <button type="button" class="danger" disabled={isBarred} onClick={() => set({ do: 'delete' })}>
        Delete
      </button>
    </div>
  );
}

/** Shows one webhook. */
export function WebhookView({ webhook, reload }: { webhook: WebhookJson; reload: () => void }) {
  const { missed } = webhook;
  return (
    <>
      <dl class="facts card">
        <div>
          <dt>Address</dt>
          <dd class="break">
            <Hostile text={webhook.url} />
          </dd>
        </div>
        <div>
          <dt>Events</dt>
          <dd>{webhook.events.join(', ')}</dd>
        </div>
        <div>
          <dt>Sends</dt>
          <dd>
            {webhook.payload}, {webhook.format}
            {webhook.filter !== null && ', filtered'}
          </dd>
        </div>
        <div>
          <dt>Last delivered</dt>
          <dd>
            <Moment at={webhook.last_success_at} none="never" />
          </dd>
        </div>
      </dl>
      {webhook.paused_message !== null && (
        <p class="missing-scope" role="note">
          Paused <Moment at={webhook.paused_at} />: <Hostile text={webhook.paused_message} />
        </p>
      )}
      {missed !== null && (
        <p class="muted">
          Events were not sent from <Moment at={missed.from} /> until <Moment at={missed.until} none="now" />,
          because {missed.reason === 'paused' ? 'it was paused' : 'the feed of changes was lost'}.
        </p>
      )}
      {webhook.rotating_until !== null && (
        <p class="muted">
          Two secrets sign; the old one ends <Moment at={webhook.rotating_until} />.
        </p>
      )}
      <Actions webhook={webhook} reload={reload} />
      <Deliveries webhookId={webhook.id} />
    </>
  );
}
