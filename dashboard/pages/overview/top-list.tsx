/** The values of a dimension with the most requests: each filters by a click. */
import type { ComponentChildren } from 'preact';
import type { MetricsSeries } from '#core/contracts/metrics.ts';
import { Bar } from '../../parts/chart/bar.tsx';
import { count, dollars, percent } from '../../parts/formats/numbers.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { FilterValue } from '../../parts/value/value.tsx';
import { groupValue } from './measures.ts';

type Row = { value: string | number | null; requests: number; cost: number | null };

type TopListProps = {
  title: string;
  /** What stands for requests without a value. */
  none: string;
  /** As the query's text names it. */
  field: string;
  groups: readonly MetricsSeries[];
  /** The places of requests and cost among the measures; a null cost is not shown. */
  places: { requests: number; cost: number | null };
  /** Requests of all groups. */
  total: number;
  /** Shown in place of a value; may be a text of a stranger. */
  nameOf?: (value: string) => string;
  /** Beside the title. */
  children?: ComponentChildren;
  isLoading: boolean;
};

function Share({ row: { requests }, total }: { row: Row; total: number }) {
  const share = total === 0 ? 0 : requests / total;
  return (
    <span class="top-share" title={percent(share)}>
      <Bar share={share} />
      {count(requests)}
    </span>
  );
}

/** Shows the groups by their number of requests. */
export function TopList({
  title,
  none,
  field,
  groups,
  places,
  total,
  nameOf = (value) => value,
  children,
  isLoading,
}: TopListProps) {
  const rows = groups
    .map(
      (one): Row => ({
        value: groupValue(one),
        requests: one.total[places.requests] ?? 0,
        cost: places.cost === null ? null : (one.total[places.cost] ?? null),
      }),
    )
    .toSorted((a, b) => b.requests - a.requests);
  const nameCell = ({ value }: Row) => {
    const name = value === null || value === '' ? none : <Hostile text={nameOf(String(value))} />;
    return (
      <FilterValue field={field} value={value}>
        {name}
      </FilterValue>
    );
  };
  const columns: Column<Row>[] = [
    { name: 'value', title: 'Value', cell: nameCell },
    { name: 'requests', title: 'Requests', cell: (row) => <Share row={row} total={total} />, isNumber: true },
    ...(places.cost === null
      ? []
      : [{ name: 'cost', title: 'Cost', cell: ({ cost }: Row) => dollars(cost), isNumber: true }]),
  ];
  return (
    <section class="top-list card">
      <div class="top-head">
        <h2>{title}</h2>
        {children}
      </div>
      <Table
        caption={title}
        columns={columns}
        rows={rows}
        keyOf={({ value }) => JSON.stringify(value)}
        empty="None in this range"
        isLoading={isLoading}
      />
    </section>
  );
}
