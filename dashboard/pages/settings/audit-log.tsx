/** The audit log: who changed what, and when. The address has the filters. */
import type { AuditEntry, AuditPage } from '#core/contracts/audit.ts';
import { call } from '../../client/call.ts';
import { type KeyNames, useKeyNames } from '../../client/key-names.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { useAddressText } from '../../parts/form/use-address-text.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { usePages } from '../../parts/table/use-pages.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';

const FILTERS = [
  { name: 'action', label: 'Action' },
  { name: 'actor', label: 'Actor' },
  { name: 'target_kind', label: 'Kind' },
  { name: 'target_id', label: 'Id' },
] as const;
type FilterName = (typeof FILTERS)[number]['name'];
type Filters = Partial<Record<FilterName, string>>;

const ACTORS = { api_key: 'API key', command_line: 'Command line', system: 'Assay itself' };

/** A value of an entry: a click shows the entries that share it. */
function Value({ name, value, label = value }: { name: FilterName; value: string; label?: string }) {
  const { path, query } = useAddress();
  return (
    <a class="break" href={href(path, { ...query, [name]: value })} title="Only entries with this value">
      <Hostile text={label} />
    </a>
  );
}

function Changes({ changes }: Pick<AuditEntry, 'changes'>) {
  const names = Object.keys(changes);
  if (names.length === 0) return null;
  return (
    <details>
      <summary>
        <Hostile text={names.join(', ')} />
      </summary>
      <pre class="answer">
        <Hostile text={JSON.stringify(changes, null, 2)} />
      </pre>
    </details>
  );
}

const columns = (names: KeyNames): readonly Column<AuditEntry>[] => [
  { name: 'at', title: 'Time', cell: ({ at }) => <Moment at={at} /> },
  {
    name: 'actor',
    title: 'Actor',
    cell: ({ actor: { kind, id } }) => (
      <>
        {id !== null && `${ACTORS[kind]} `}
        <Value name="actor" value={id ?? kind} label={id === null ? ACTORS[kind] : (names.get(id) ?? id)} />
      </>
    ),
  },
  { name: 'action', title: 'Action', cell: ({ action }) => <Value name="action" value={action} /> },
  { name: 'kind', title: 'What', cell: ({ target }) => <Value name="target_kind" value={target.kind} /> },
  {
    name: 'id',
    title: 'Id',
    cell: ({ target }) => (target.id === '' ? null : <Value name="target_id" value={target.id} />),
  },
  { name: 'changes', title: 'Changes', cell: (entry) => <Changes {...entry} /> },
];

function Filter({ name, label }: (typeof FILTERS)[number]) {
  return (
    <label>
      {label} <input type="search" {...useAddressText(name)} />
    </label>
  );
}

function FilterForm() {
  return (
    <div class="filters">
      {FILTERS.map((filter) => (
        <Filter key={filter.name} {...filter} />
      ))}
    </div>
  );
}

/** Lists entries, newest first. */
export function AuditLog() {
  const { query } = useAddress();
  const filters: Filters = Object.fromEntries(
    FILTERS.flatMap(({ name }) => (query[name] === undefined ? [] : [[name, query[name]]])),
  );
  const load = async (after: string | null, signal: AbortSignal) => {
    const wanted = new URLSearchParams({ ...filters, ...(after !== null && { after }) });
    const { entries: rows, next } = await call<AuditPage>('GET', `/v1/audit?${wanted}`, undefined, signal);
    return { rows, next };
  };
  const { data, rows, failure, isLoading, reload, more } = usePages(
    `audit ${new URLSearchParams(filters)}`,
    load,
  );
  const names = useKeyNames(rows.map(({ actor: { id } }) => id));
  return (
    <>
      <FilterForm />
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && (
        <Table
          caption="Audit log"
          columns={columns(names)}
          rows={rows}
          keyOf={({ id }) => id}
          isLoading={isLoading}
          empty={<p>No change fits these filters.</p>}
        />
      )}
      <MoreButton more={more} />
    </>
  );
}
