/** One alert: its state, what fires, and when it fired before. */
import { useState } from 'preact/hooks';
import type { AlertHistoryEntry, AlertHistoryPage, AlertJson } from '#core/contracts/alert.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { NOTHING } from '../../parts/formats/numbers.ts';
import { OlderButton } from '../../parts/table/older-button.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { attempt } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { conditionText, groupText, STATE_CHIPS, valueText } from './words.ts';

const SEVERITY_CHIPS = { critical: 'chip chip-bad', warning: 'chip chip-warn' };
const REASONS = { changed: 'it was changed', disabled: 'it was disabled', deleted: 'it was deleted' };

function columns(alert: AlertJson): readonly Column<AlertHistoryEntry>[] {
  return [
    { name: 'at', title: 'Time', cell: ({ at }) => <Moment at={at} /> },
    {
      name: 'event',
      title: 'Event',
      cell: ({ event, severity, reason }) => (
        <>
          <span class={event === 'fired' ? SEVERITY_CHIPS[severity] : 'chip chip-good'}>
            {event}, {severity}
          </span>{' '}
          {reason !== null && `because ${REASONS[reason]}`}
        </>
      ),
    },
    {
      name: 'group',
      title: 'Group',
      cell: ({ group }) =>
        Object.keys(group).length === 0 ? (
          NOTHING
        ) : (
          <span class="break">
            <Hostile text={groupText(group)} />
          </span>
        ),
    },
    { name: 'value', title: 'Value', isNumber: true, cell: ({ value }) => valueText(alert.query, value) },
    {
      name: 'threshold',
      title: 'Threshold',
      isNumber: true,
      cell: ({ threshold }) => valueText(alert.query, threshold),
    },
  ];
}

function History({ alert }: { alert: AlertJson }) {
  const [older, setOlder] = useState<AlertHistoryPage | null>(null);
  const path = `/v1/alert/${alert.id}/history`;
  // A new state comes with a new entry.
  const { data, failure, isLoading, reload } = useResource(`history ${alert.id} ${alert.state}`, (signal) =>
    call<AlertHistoryPage>('GET', path, undefined, signal),
  );
  const next = older === null ? (data?.next ?? null) : older.next;
  const known = new Set(data?.entries.map(({ id }) => id));
  const entries = [...(data?.entries ?? []), ...(older?.entries.filter(({ id }) => !known.has(id)) ?? [])];
  const more = () =>
    attempt(async () => {
      const page = await call<AlertHistoryPage>('GET', `${path}?after=${next}`);
      setOlder({ entries: [...(older?.entries ?? []), ...page.entries], next: page.next });
    }, 'Older entries are shown');
  return (
    <section class="part">
      <h2>History</h2>
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && (
        <Table
          caption="History"
          columns={columns(alert)}
          rows={entries}
          keyOf={({ id }) => id}
          empty={<p>It has never fired.</p>}
        />
      )}
      <OlderButton next={next} onClick={more} />
    </section>
  );
}

function Firing({ alert: { firing, query, skipped_groups: skipped } }: { alert: AlertJson }) {
  return (
    <>
      {firing.length > 0 && (
        <ul class="card" aria-label="Firing">
          {firing.map(({ group, severity, since, value }) => (
            <li key={`${severity} ${groupText(group)}`}>
              <span class={SEVERITY_CHIPS[severity]}>{severity}</span> <Hostile text={groupText(group)} />{' '}
              {valueText(query, value)}, since <Moment at={since} />
            </li>
          ))}
        </ul>
      )}
      {skipped > 0 && <p class="muted">{skipped} groups are not watched, because there are too many.</p>}
    </>
  );
}

/** Shows one alert. */
export function AlertView({ alert }: { alert: AlertJson }) {
  const { set } = useAddress();
  const { state, error, gone_webhooks: gone, webhooks } = alert;
  return (
    <>
      <dl class="facts card">
        <div>
          <dt>Name</dt>
          <dd class="break">
            <Hostile text={alert.name} />
          </dd>
        </div>
        <div>
          <dt>State</dt>
          <dd>
            <span class={STATE_CHIPS[state]}>{state}</span>
          </dd>
        </div>
        <div>
          <dt>Fires when</dt>
          <dd>{conditionText(alert)}</dd>
        </div>
        <div>
          <dt>Now</dt>
          <dd>{valueText(alert.query, alert.value)}</dd>
        </div>
        <div>
          <dt>Tells</dt>
          <dd>
            {webhooks === 'all' ? 'all webhooks' : `${webhooks.length} webhooks`}
            {gone.length > 0 && `, ${gone.length} of them deleted`}
          </dd>
        </div>
      </dl>
      {error !== null && (
        <p class="missing-scope" role="note">
          It cannot be evaluated: <Hostile text={error} />
        </p>
      )}
      <Firing alert={alert} />
      <div class="filters">
        <button type="button" disabled={!may('write')} onClick={() => set({ do: 'edit' })}>
          Change
        </button>
        <button type="button" class="danger" disabled={!may('write')} onClick={() => set({ do: 'delete' })}>
          Delete
        </button>
      </div>
      <History alert={alert} />
    </>
  );
}
