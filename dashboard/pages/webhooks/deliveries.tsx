/** The deliveries of a webhook, with their attempts. */
import type { DeliveryJson, DeliveryPage } from '#core/contracts/webhook.ts';
import { call } from '../../client/call.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { milliseconds, NOTHING, plural } from '../../parts/formats/numbers.ts';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { usePages } from '../../parts/table/use-pages.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { attempt } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';

const EVERY_MS = 3_000;
const STATE_CHIPS: Record<DeliveryJson['state'], string> = {
  pending: 'chip',
  sending: 'chip',
  delivered: 'chip chip-good',
  failed: 'chip chip-bad',
  cancelled: 'chip chip-warn',
};
const STATES = ['', ...Object.keys(STATE_CHIPS)];

function Attempts({ state, attempts, due_at, reason, isPaused }: DeliveryJson & { isPaused: boolean }) {
  const last = attempts.at(-1);
  return (
    <>
      {last !== undefined && (
        <details>
          <summary>
            {plural(attempts.length, 'attempt')}, the last{' '}
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
      {state === 'pending' && due_at !== null && (
        <span class="muted">
          {isPaused ? (
            'Waits until the webhook is resumed'
          ) : (
            <>
              {Date.parse(due_at) > Date.now() ? 'Next attempt' : 'Due'} <Moment at={due_at} />
            </>
          )}
        </span>
      )}
      {reason !== null && <Hostile text={reason} />}
    </>
  );
}

/** A request that was erased has no page any more; nor has one whose delivery was cancelled, for that is why. */
function isThere({ event, state }: DeliveryJson): boolean {
  return event !== 'request.deleted' && state !== 'cancelled';
}

function RequestId(delivery: DeliveryJson) {
  const { request_id: id } = delivery;
  if (id === null) return <>{NOTHING}</>;
  if (!isThere(delivery))
    return (
      <code>
        <Hostile text={id} />
      </code>
    );
  return (
    <a href={`/requests/${encodeURIComponent(id)}`}>
      <code>
        <Hostile text={id} />
      </code>
    </a>
  );
}

/** What can be done with a delivery in a state: one that waits is made at once, one that has ended is made again. */
const VERBS: Partial<Record<DeliveryJson['state'], string>> = {
  pending: 'Send now',
  delivered: 'Redeliver',
  failed: 'Redeliver',
};

function columns(redeliver: (id: string) => void, isPaused: boolean): readonly Column<DeliveryJson>[] {
  return [
    { name: 'at', title: 'Event', cell: ({ event_at }) => <Moment at={event_at} /> },
    { name: 'event', title: 'Kind', cell: ({ event }) => event },
    { name: 'request', title: 'Request', cell: (delivery) => <RequestId {...delivery} /> },
    { name: 'state', title: 'State', cell: ({ state }) => <span class={STATE_CHIPS[state]}>{state}</span> },
    {
      name: 'attempts',
      title: 'Attempts',
      cell: (delivery) => <Attempts {...delivery} isPaused={isPaused} />,
    },
    {
      name: 'actions',
      title: 'Action',
      cell: ({ id, state }) =>
        may('write') &&
        !(isPaused && state === 'pending') &&
        VERBS[state] !== undefined && (
          <div class="row-actions">
            <button type="button" aria-label={`${VERBS[state]} ${id}`} onClick={() => redeliver(id)}>
              {VERBS[state]}
            </button>
          </div>
        ),
    },
  ];
}

/** Lists deliveries, newest first; loaded again every three seconds. */
export function Deliveries({ webhookId, isPaused }: { webhookId: string; isPaused: boolean }) {
  const { query, set } = useAddress();
  const state = query.state ?? '';
  const path = `/v1/webhook/${webhookId}/deliveries`;
  const load = async (after: string | null, signal: AbortSignal) => {
    const wanted = new URLSearchParams({ ...(state !== '' && { state }), ...(after !== null && { after }) });
    const { deliveries: rows, next } = await call<DeliveryPage>(
      'GET',
      `${path}?${wanted}`,
      undefined,
      signal,
    );
    return { rows, next };
  };
  const { rows, failure, isLoading, reload, more } = usePages(`deliveries ${webhookId} ${state}`, load, {
    everyMs: EVERY_MS,
  });
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
        <button type="button" disabled={!may('write')} onClick={() => set({ do: 'redeliver' })}>
          Redeliver what failed…
        </button>
      </div>
      <FailureNotice failure={failure} retry={reload} />
      <Table
        caption="Deliveries"
        columns={columns(redeliver, isPaused)}
        rows={rows}
        keyOf={({ id }) => id}
        isLoading={isLoading}
        empty={<p>{state === '' ? 'Nothing has been sent yet.' : 'No delivery is in this state.'}</p>}
      />
      <MoreButton more={more} />
    </section>
  );
}
