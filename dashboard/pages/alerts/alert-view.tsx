/** One alert: its state, what fires with the requests behind it, and when it fired before. */
import type { AlertJson } from '#core/contracts/alert.ts';
import { call } from '../../client/call.ts';
import type { KeyNames } from '../../client/key-names.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { plural } from '../../parts/formats/numbers.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { RequestsFact } from '../../parts/text/requests-fact.tsx';
import { attempt } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { groupColumn, SEVERITY_CHIPS, useGroupNames } from './group.tsx';
import { History } from './history.tsx';
import { alertFilter, requestsBehind } from './requests-behind.ts';
import { StateChip } from './state-chip.tsx';
import { Tells } from './tells.tsx';
import { conditionText, NO_DATA, STATE_WORDS, valueText } from './words.ts';

type FiringGroup = AlertJson['firing'][number];

function firingColumns(alert: AlertJson, names: KeyNames): readonly Column<FiringGroup>[] {
  const { query, evaluated_at: end } = alert;
  return [
    {
      name: 'severity',
      title: 'Severity',
      cell: ({ severity }) => <span class={SEVERITY_CHIPS[severity]}>{severity}</span>,
    },
    ...groupColumn<FiringGroup>(alert, names),
    { name: 'value', title: 'Value', isNumber: true, cell: ({ value }) => valueText(query, value) },
    { name: 'since', title: 'Fired', cell: ({ since }) => <Moment at={since} /> },
    {
      name: 'requests',
      title: 'Requests',
      cell: ({ group }) =>
        end !== null && <a href={requestsBehind(alert, group, Date.parse(end))}>Of the last window</a>,
    },
  ];
}

function Firing({ alert }: { alert: AlertJson }) {
  const { firing, skipped_groups: skipped } = alert;
  const names = useGroupNames(alert, firing);
  return (
    <>
      {firing.length > 0 && (
        <section class="part">
          <h2>Firing</h2>
          <Table
            caption="Firing"
            columns={firingColumns(alert, names)}
            rows={firing}
            keyOf={({ severity, group }) => `${severity} ${JSON.stringify(group)}`}
          />
        </section>
      )}
      {skipped > 0 && (
        <p class="muted">
          {plural(skipped, 'group')} {skipped === 1 ? 'is' : 'are'} not watched: an alert watches 100 at most.
        </p>
      )}
    </>
  );
}

function Facts({ alert }: { alert: AlertJson }) {
  const { state, query, evaluated_at, warning, comparison } = alert;
  const filter = alertFilter(query);
  const isGrouped = (query.groupBy ?? []).length > 0;
  return (
    <dl class="facts card">
      <div>
        <dt>State</dt>
        <dd>
          <StateChip state={state} error={alert.error} />{' '}
          <span class="muted">
            {STATE_WORDS[state]}
            {evaluated_at !== null && (
              <>
                {STATE_WORDS[state] !== undefined && '; '}last evaluated <Moment at={evaluated_at} />
              </>
            )}
          </span>
        </dd>
      </div>
      <div>
        <dt>Fires when</dt>
        <dd class="break">
          <Hostile text={conditionText(alert)} />
        </dd>
      </div>
      {warning !== null && (
        <div>
          <dt>Warns when</dt>
          <dd>
            {comparison} {valueText(query, warning)}
          </dd>
        </div>
      )}
      {!isGrouped && (
        <div>
          <dt>Now</dt>
          <dd>{valueText(query, alert.value)}</dd>
        </div>
      )}
      <RequestsFact filter={filter} />
      <div>
        <dt>No data counts</dt>
        <dd>{NO_DATA.find(({ name }) => name === alert.no_data)?.label}</dd>
      </div>
      <div>
        <dt>Tells</dt>
        <dd>
          <Tells alert={alert} />
        </dd>
      </div>
    </dl>
  );
}

function Actions({ alert, reload }: { alert: AlertJson; reload: () => void }) {
  const { set } = useAddress();
  const { id, enabled } = alert;
  const isBarred = !may('write');
  const toggle = () =>
    attempt(
      async () => {
        await call('PATCH', `/v1/alert/${id}`, { enabled: !enabled });
        reload();
      },
      enabled ? 'Disabled: what fired is resolved' : 'Enabled: it is evaluated within a minute',
    );
  return (
    <div class="filters">
      <button type="button" disabled={isBarred} onClick={toggle}>
        {enabled ? 'Disable' : 'Enable'}
      </button>
      <button type="button" disabled={isBarred} onClick={() => set({ do: 'edit' })}>
        Change
      </button>
      <button type="button" class="danger" disabled={isBarred} onClick={() => set({ do: 'delete' })}>
        Delete
      </button>
    </div>
  );
}

/** Shows one alert. */
export function AlertView({ alert, reload }: { alert: AlertJson; reload: () => void }) {
  const { error } = alert;
  return (
    <>
      <Facts alert={alert} />
      {error !== null && (
        <p class="missing-scope" role="note">
          It cannot be evaluated: <Hostile text={error} />
        </p>
      )}
      <Actions alert={alert} reload={reload} />
      <Firing alert={alert} />
      <History alert={alert} />
    </>
  );
}
