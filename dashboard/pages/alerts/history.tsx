/** When an alert fired and was resolved before. */
import type { AlertHistoryEntry, AlertHistoryPage, AlertJson } from '#core/contracts/alert.ts';
import { call } from '../../client/call.ts';
import type { KeyNames } from '../../client/key-names.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { usePages } from '../../parts/table/use-pages.ts';
import { groupColumn, SEVERITY_CHIPS, useGroupNames } from './group.tsx';
import { requestsBehind } from './requests-behind.ts';
import { valueText } from './words.ts';

const REASONS = { changed: 'it was changed', disabled: 'it was disabled', deleted: 'it was deleted' };

function columns(alert: AlertJson, names: KeyNames): readonly Column<AlertHistoryEntry>[] {
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
    ...groupColumn<AlertHistoryEntry>(alert, names),
    { name: 'value', title: 'Value', isNumber: true, cell: ({ value }) => valueText(alert.query, value) },
    {
      name: 'threshold',
      title: 'Threshold',
      isNumber: true,
      cell: ({ threshold }) => valueText(alert.query, threshold),
    },
    {
      name: 'requests',
      title: 'Requests',
      cell: ({ event, at, group }) =>
        event === 'fired' && <a href={requestsBehind(alert, group, Date.parse(at))}>Behind it</a>,
    },
  ];
}

/** Lists the events, newest first. */
export function History({ alert }: { alert: AlertJson }) {
  const load = async (after: string | null, signal: AbortSignal) => {
    const page = after === null ? '' : `?after=${after}`;
    const path = `/v1/alert/${alert.id}/history${page}`;
    const { entries: rows, next } = await call<AlertHistoryPage>('GET', path, undefined, signal);
    return { rows, next };
  };
  // A group that fires or is resolved comes with a new entry.
  const key = `history ${alert.id} ${alert.state} ${alert.firing.map(({ since }) => since)}`;
  const { data, rows, failure, isLoading, reload, more } = usePages(key, load);
  const names = useGroupNames(alert, rows);
  return (
    <section class="part">
      <h2>History</h2>
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && (
        <Table
          caption="History"
          columns={columns(alert, names)}
          rows={rows}
          isLoading={isLoading}
          keyOf={({ id }) => id}
          empty={<p>It has never fired.</p>}
        />
      )}
      <MoreButton more={more} />
    </section>
  );
}
