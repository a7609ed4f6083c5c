/** The alerts on metrics, with their states. */
import type { AlertBody, AlertJson } from '#core/contracts/alert.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { tell } from '../../parts/toast/toast.tsx';
import { href, useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { AlertForm } from './alert-form.tsx';
import { AlertView } from './alert-view.tsx';
import { StateChip } from './state-chip.tsx';
import { bySeverity, conditionText, valueText } from './words.ts';

/** An alert is evaluated once a minute. */
const EVERY_MS = 15_000;

const COLUMNS: readonly Column<AlertJson>[] = [
  {
    name: 'name',
    title: 'Name',
    cell: ({ id, name }) => (
      <a class="break" href={href('/alerts', { alert: id })}>
        <Hostile text={name} />
      </a>
    ),
  },
  {
    name: 'state',
    title: 'State',
    cell: ({ state, error, firing }) => (
      <>
        <StateChip state={state} error={error} /> {firing.length > 0 && `${firing.length} firing`}
        {error !== null && (
          <p class="bad break">
            <Hostile text={error} />
          </p>
        )}
      </>
    ),
  },
  {
    name: 'condition',
    title: 'Fires when',
    cell: (alert) => (
      <span class="break">
        <Hostile text={conditionText(alert)} />
      </span>
    ),
  },
  { name: 'value', title: 'Now', isNumber: true, cell: ({ query, value }) => valueText(query, value) },
  {
    name: 'evaluated',
    title: 'Evaluated',
    cell: ({ evaluated_at }) => <Moment at={evaluated_at} none="not yet" />,
  },
];

const EMPTY = (
  <p>There is no alert. One watches a metric, and tells webhooks when it is beyond a threshold.</p>
);

function Dialogs({ alert, reload }: { alert: AlertJson | null; reload: () => void }) {
  const { query, set, go } = useAddress();
  const close = () => set({ new: null, do: null });
  const saved = () => {
    tell('Saved: it is evaluated within a minute');
    reload();
    close();
  };
  if (query.new !== undefined) {
    const create = async (body: AlertBody) => {
      await call('POST', '/v1/alert', body);
      saved();
    };
    return (
      <Dialog title="Create an alert" isWide onClose={close}>
        <AlertForm verb="Create alert" alert={null} save={create} />
      </Dialog>
    );
  }
  if (alert === null) return null;
  const path = `/v1/alert/${alert.id}`;
  if (query.do === 'edit') {
    const change = async (body: AlertBody) => {
      await call('PATCH', path, body);
      saved();
    };
    return (
      <Dialog title="Change the alert" isWide onClose={close}>
        <AlertForm verb="Save" alert={alert} save={change} />
      </Dialog>
    );
  }
  if (query.do !== 'delete') return null;
  return (
    <Confirm
      title="Delete the alert?"
      text="It goes with its history, and what fires is resolved. This cannot be taken back."
      verb="Delete"
      run={async () => {
        await call('DELETE', path);
        tell('Deleted');
        reload();
        go('/alerts');
      }}
      onClose={close}
    />
  );
}

/** The page /alerts. */
export function Alerts() {
  const { query, set } = useAddress();
  const { data, failure, isLoading, reload } = useResource(
    'alerts',
    (signal) => call<AlertJson[]>('GET', '/v1/alert', undefined, signal),
    { everyMs: EVERY_MS },
  );
  const open = data?.find(({ id }) => id === query.alert) ?? null;
  return (
    <>
      <header class="page-head">
        <h1 class="break">{open === null ? 'Alerts' : <Hostile text={open.name} />}</h1>
        {query.alert !== undefined && <a href="/alerts">All alerts</a>}
        <button type="button" class="primary" disabled={!may('write')} onClick={() => set({ new: '1' })}>
          Create an alert
        </button>
      </header>
      <MissingScope scope="write" what="Creating and changing alerts" />
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && query.alert === undefined && (
        <Table
          caption="Alerts"
          columns={COLUMNS}
          rows={bySeverity(data)}
          keyOf={({ id }) => id}
          empty={EMPTY}
        />
      )}
      {data !== null && query.alert !== undefined && open === null && <p>There is no such alert.</p>}
      {open !== null && <AlertView key={open.id} alert={open} reload={reload} />}
      {may('write') && <Dialogs alert={open} reload={reload} />}
    </>
  );
}
