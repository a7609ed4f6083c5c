/** One webhook: its state, what can be done with it, and its deliveries. */
import type { WebhookJson } from '#core/contracts/webhook.ts';
import { call } from '../../client/call.ts';
import { filterText } from '../../parts/formats/filters.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { plural } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { RequestsFact } from '../../parts/text/requests-fact.tsx';
import { attempt } from '../../parts/toast/toast.tsx';
import { href, useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { rangeName } from '../../state/range.ts';
import { Deliveries } from './deliveries.tsx';
import { PAUSES } from './events.ts';

const PAYLOAD_WORDS = { thin: 'ids and a few columns', full: 'requests with their bodies' };
const FORMAT_WORDS = { standard: 'as JSON', chat: 'as a line for chat systems' };

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

/** Returns the address of the requests whose events were not sent. */
function requestsOf({ from, until }: NonNullable<WebhookJson['missed']>, q: string): string {
  return href('/requests', {
    q,
    range: rangeName(Date.parse(from), until === null ? Date.now() : Date.parse(until)),
  });
}

/** Shows one webhook. */
export function WebhookView({ webhook, reload }: { webhook: WebhookJson; reload: () => void }) {
  const { missed } = webhook;
  const filter = filterText(webhook.filter);
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
          <dt>State</dt>
          <dd>
            {webhook.paused_reason === null ? (
              <span class="chip chip-good">active</span>
            ) : (
              <>
                <span class="chip chip-warn">paused</span> {PAUSES[webhook.paused_reason]}
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Events</dt>
          <dd class="chips">
            {webhook.events.map((event) => (
              <span key={event} class="chip">
                {event}
              </span>
            ))}
          </dd>
        </div>
        <div>
          <dt>Sends</dt>
          <dd>
            {PAYLOAD_WORDS[webhook.payload]}, {FORMAT_WORDS[webhook.format]}
          </dd>
        </div>
        <RequestsFact filter={filter} />
        <div>
          <dt>Waiting</dt>
          <dd>{plural(webhook.pending, 'message')}</dd>
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
          because {missed.reason === 'paused' ? 'it was paused' : 'the feed of changes was lost'}.{' '}
          <a href={requestsOf(missed, filter)}>The requests of that time</a>
        </p>
      )}
      {webhook.rotating_until !== null && (
        <p class="muted">
          Two secrets sign; the old one ends <Moment at={webhook.rotating_until} />.
        </p>
      )}
      <Actions webhook={webhook} reload={reload} />
      <Deliveries webhookId={webhook.id} isPaused={webhook.state === 'paused'} />
    </>
  );
}
