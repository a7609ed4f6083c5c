/** The deliveries of a webhook, with their attempts. */
import { useState } from 'preact/hooks';
import type { DeliveryJson, DeliveryPage } from '#core/contracts/webhook.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { milliseconds, NOTHING } from '../../parts/formats/numbers.ts';
import { OlderButton } from '../../parts/table/older-button.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { attempt } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { RedeliverFailed } from './redeliver-failed.tsx';

const EVERY_MS = 3_000;
const STATE_CHIPS: Record<DeliveryJson['state'], string> = {
  pending: 'chip',
  sending: 'chip',
  delivered: 'chip chip-good',
  failed: 'chip chip-bad',
  cancelled: 'chip chip-warn',
};
const STATES = ['', ...Object.keys(STATE_CHIPS)];

function Attempts({ attempts, due_at, reason }: DeliveryJson) {
  const last = attempts.at(-1);
  return (
    <>
      {last !== undefined && (
        <details>
          <summary>
            {attempts.length} {attempts.length === 1 ? 'attempt' : 'attempts'}, the last{' '}
            {last.status === null ? 'without an answer' : `with status ${last.status}`}
          </summary>
          <ol>
            {attempts.map(({ at, duration_ms, status, error, answer }) => (
              <li key={at}>
                <Moment at={at} />: {status ?? 'no answer'} in {milliseconds(duration_ms)}
                {error !== null && (
                  <p class="bad">
                    <Hostile text={error} />
                  </p>
                )}
                {answer !== null && answer !== '' && (
                  <pre class="answer">
                    <Hostile text={answer} />
                  </pre>
                )}
              </li>
            ))}
          </ol>
        </details>
      )}
      {due_at !== null && (
        <span class="muted">
          Next attempt <Moment at={due_at} />
        </span>
      )}
      {reason !== null && <Hostile text={reason} />}
    </>
  );
}

function columns(redeliver: (id: string) => void): readonly Column<DeliveryJson>[] {
  return [
    { name: 'at', title: 'Event', cell: ({ event_at }) => <Moment at={event_at} /> },
    { name: 'event', title: 'Kind', cell: ({ event }) => event },
    {
      name: 'request',
      title: 'Request',
      cell: ({ request_id }) =>
        request_id === null ? (
          NOTHING
        ) : (
          <a href={`/requests/${encodeURIComponent(request_id)}`}>
            <Hostile text={request_id} />
          </a>
        ),
    },
    { name: 'state', title: 'State', cell: ({ state }) => <span class={STATE_CHIPS[state]}>{state}</span> },
    { name: 'attempts', title: 'Attempts', cell: (delivery) => <Attempts {...delivery} /> },
    {
      name: 'actions',
      title: 'Action',
      cell: ({ id, state }) =>
        may('write') && (state === 'delivered' || state === 'failed') ? (
          <button type="button" aria-label={`Redeliver ${id}`} onClick={() => redeliver(id)}>
            Redeliver
          </button>
        ) : null,
    },
  ];
}

/** Lists deliveries, newest first; the newest page is loaded again every three seconds. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const { query, set } = useAddress();
  const [older, setOlder] = useState<{ key: string; rows: DeliveryJson[]; next: string | null } | null>(null);
  const state = query.state ?? '';
  const path = `/v1/webhook/${webhookId}/deliveries`;
  const load = (after: string | null, signal?: AbortSignal) => {
    const wanted = new URLSearchParams({ ...(state !== '' && { state }), ...(after !== null && { after }) });
    return call<DeliveryPage>('GET', `${path}?${wanted}`, undefined, signal);
  };
  const key = `deliveries ${webhookId} ${state}`;
  const { data, dataKey, failure, isLoading, reload } = useResource(key, (signal) => load(null, signal), {
    everyMs: EVERY_MS,
  });
  const shown = older?.key === key ? older : null;
  const next = shown === null ? (data?.next ?? null) : shown.next;
  const known = new Set(data?.deliveries.map(({ id }) => id));
  const rows = [...(data?.deliveries ?? []), ...(shown?.rows.filter(({ id }) => !known.has(id)) ?? [])];
  const more = () =>
    attempt(async () => {
      const page = await load(next);
      setOlder({ key, rows: [...(shown?.rows ?? []), ...page.deliveries], next: page.next });
    }, 'Older deliveries are shown');
  const redeliver = (id: string) =>
    attempt(async () => {
      await call('POST', `${path}/${id}/redeliver`);
      reload();
    }, 'It is delivered again');
  return (
    <section class="part">
      <div class="filters">
        <h2>Deliveries</h2>
        <label>
          State{' '}
          <select value={state} onChange={({ currentTarget }) => set({ state: currentTarget.value })}>
            {STATES.map((name) => (
              <option key={name} value={name}>
                {name === '' ? 'All' : name}
              </option>
            ))}
          </select>
        </label>
        {may('write') && <RedeliverFailed webhookId={webhookId} onDone={reload} />}
      </div>
      <FailureNotice failure={failure} retry={reload} />
      <Table
        caption="Deliveries"
        columns={columns(redeliver)}
        rows={rows}
        keyOf={({ id }) => id}
        isLoading={isLoading && dataKey !== key}
        empty={<p>{state === '' ? 'Nothing has been sent yet.' : 'No delivery is in this state.'}</p>}
      />
      <OlderButton next={next} onClick={more} />
    </section>
  );
}
