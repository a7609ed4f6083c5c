/** The webhooks: addresses that events are posted to. */
import { useState } from 'preact/hooks';
import type { NewWebhookJson, WebhookJson } from '#core/contracts/webhook.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count } from '../../parts/formats/numbers.ts';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { ShownOnce } from '../../parts/secret/shown-once.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { PAUSES } from './events.ts';
import { WebhookDialogs } from './webhook-dialogs.tsx';
import { WebhookView } from './webhook-view.tsx';

/** A webhook that fails is paused by itself. */
const EVERY_MS = 15_000;

const COLUMNS: readonly Column<WebhookJson>[] = [
  {
    name: 'url',
    title: 'Address',
    cell: ({ id, url }) => (
      <a class="break clamped" href={href('/webhooks', { w: id })}>
        <Hostile text={url} />
      </a>
    ),
  },
  {
    name: 'state',
    title: 'State',
    cell: ({ state, paused_reason }) =>
      state === 'active' ? (
        <span class="chip chip-good">active</span>
      ) : (
        <>
          <span class="chip chip-warn">paused</span> {paused_reason !== null && PAUSES[paused_reason]}
        </>
      ),
  },
  {
    name: 'events',
    title: 'Events',
    cell: ({ events, filter }) => (
      <span class="chips">
        {events.map((event) => (
          <span key={event} class="chip">
            {event}
          </span>
        ))}
        {filter !== null && <span class="muted">filtered</span>}
      </span>
    ),
  },
  { name: 'pending', title: 'Waiting', isNumber: true, cell: ({ pending }) => count(pending) },
  {
    name: 'success',
    title: 'Last delivered',
    cell: ({ last_success_at }) => <Moment at={last_success_at} none="never" />,
  },
];

const EMPTY = (
  <p>There is no webhook. One posts events, such as a stored request or an alert, to an address of yours.</p>
);

/** The page /webhooks. */
export function Webhooks() {
  const { query, set } = useAddress();
  const [made, setMade] = useState<NewWebhookJson | null>(null);
  const { data, failure, isLoading, reload } = useResource(
    'webhooks',
    (signal) => call<WebhookJson[]>('GET', '/v1/webhook', undefined, signal),
    { everyMs: EVERY_MS },
  );
  const open = data?.find(({ id }) => id === query.w);
  return (
    <>
      <header class="page-head">
        <h1>{query.w === undefined ? 'Webhooks' : 'Webhook'}</h1>
        {query.w !== undefined && <a href="/webhooks">All webhooks</a>}
        <button type="button" class="primary" disabled={!may('write')} onClick={() => set({ new: '1' })}>
          Create a webhook
        </button>
      </header>
      <MissingScope scope="write" what="Creating and changing webhooks" />
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && query.w === undefined && (
        <Table caption="Webhooks" columns={COLUMNS} rows={data} keyOf={({ id }) => id} empty={EMPTY} />
      )}
      {data !== null && query.w !== undefined && open === undefined && <p>There is no such webhook.</p>}
      {open !== undefined && <WebhookView key={open.id} webhook={open} reload={reload} />}
      {may('write') && made === null && (
        <WebhookDialogs webhook={open ?? null} reload={reload} onMade={setMade} />
      )}
      {made !== null && (
        <ShownOnce
          title="The secret of the webhook"
          text="It signs the messages, so that their receiver knows where they come from. It is shown this once."
          secret={made.secret}
          what="the secret"
          onClose={() => setMade(null)}
        />
      )}
    </>
  );
}
