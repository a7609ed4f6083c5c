/** The processes that run, and what waits in their outboxes. */
import type { SystemJson } from '#core/contracts/system.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { bytes, count, milliseconds, NOTHING, percent } from '../../parts/formats/numbers.ts';
import { type Column, Table } from '../../parts/table/table.tsx';

type Process = SystemJson['processes'][number];

/** From this share on the API calls an outbox filling. */
const FILLING = 0.5;

function columns(version: string): readonly Column<Process>[] {
  return [
    { name: 'role', title: 'Role', cell: ({ role }) => role },
    {
      name: 'version',
      title: 'Version',
      cell: (one) =>
        one.version === version ? (
          one.version
        ) : (
          <span class="chip chip-warn">{one.version}, another one</span>
        ),
    },
    { name: 'started', title: 'Started', cell: ({ started_at }) => <Moment at={started_at} /> },
    { name: 'reported', title: 'Last report', cell: ({ reported_at }) => <Moment at={reported_at} /> },
    {
      name: 'records',
      title: 'Waiting to be stored',
      isNumber: true,
      cell: ({ outbox }) =>
        outbox === null
          ? NOTHING
          : `${count(outbox.records)} entries, ${bytes(outbox.bytes)}, oldest ${milliseconds(outbox.oldest_ms)}`,
    },
    {
      name: 'fill',
      title: 'Outbox filled',
      cell: ({ id, outbox }) =>
        outbox === null ? (
          NOTHING
        ) : (
          <div class="quota">
            <meter
              min={0}
              max={1}
              high={FILLING}
              optimum={0}
              value={outbox.fill}
              aria-label={`Outbox of ${id}`}
            />
            {percent(outbox.fill)}
          </div>
        ),
    },
  ];
}

/** Lists processes by role. */
export function Processes({ processes, version }: { processes: readonly Process[]; version: string }) {
  return (
    <section class="part">
      <h2>Processes</h2>
      <Table
        caption="Processes"
        columns={columns(version)}
        rows={processes}
        keyOf={({ id }) => id}
        empty={<p>No process has reported for half a minute.</p>}
      />
    </section>
  );
}
