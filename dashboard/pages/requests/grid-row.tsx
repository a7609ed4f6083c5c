/** One row of the list. */
import type { RequestRow } from '#core/contracts/rows.ts';
import { FreshLink } from '../../parts/links/fresh-link.tsx';
import { StatusChip } from '../../parts/request/status-chip.tsx';
import { memo } from '../../parts/table/memo.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { FilterValue } from '../../parts/value/value.tsx';
import { addressNow, href } from '../../state/address.ts';
import type { GridColumn } from './columns.ts';
import { RowScores } from './row-scores.tsx';

export type RowActions = {
  onOpen: (id: string) => void;
  onSelect: (id: string, isRange: boolean) => void;
};

export type GridRowProps = RowActions & {
  row: RequestRow;
  index: number;
  columns: readonly GridColumn[];
  isCurrent: boolean;
  isSelected: boolean;
  rowHeight: number;
  nowMs: number;
};

function Content({ row, column, nowMs }: { row: RequestRow; column: GridColumn; nowMs: number }) {
  const { name, field, value, text } = column;
  if (name === 'scores') return <RowScores row={row} />;
  if (name === 'response_status') {
    return <StatusChip status={row.response_status ?? 0} isCut={row.truncated === true} />;
  }
  const shown = text(row, nowMs);
  const found = value(row);
  if (field === undefined || found === undefined) return <Hostile text={shown} />;
  return (
    <FilterValue field={field} value={found}>
      <Hostile text={shown} />
    </FilterValue>
  );
}

/** The address of a request in the drawer. */
function addressOf(id: string): string {
  const { path, query } = addressNow();
  return href(path, { ...query, r: id });
}

/** A click anywhere opens the request; on a value it filters. Its properties must not be new ones in each rendering. */
export const GridRow = memo<GridRowProps>((props) => {
  const { row, index, columns, isCurrent, isSelected, rowHeight, nowMs, onOpen, onSelect } = props;
  const id = row.request_id;
  const onClick = (event: MouseEvent) => {
    if (event.defaultPrevented || (event.target as Element).closest('a, button, input') !== null) return;
    if (getSelection()?.isCollapsed === false) return;
    onOpen(id);
  };
  return (
    // The time in the row is a link, and Enter opens the current row.
    <tr
      class={isCurrent ? 'grid-row grid-row-current' : 'grid-row'}
      style={{ height: `${rowHeight}px` }}
      aria-rowindex={index + 2}
      aria-current={isCurrent ? 'true' : undefined}
      onClick={onClick}
    >
      <td class="grid-check">
        <input
          type="checkbox"
          aria-label={`Select request ${id}`}
          checked={isSelected}
          onClick={(event) => onSelect(id, event.shiftKey)}
        />
      </td>
      {columns.map((column) => (
        <td key={column.name} class={column.isNumber ? 'number' : undefined}>
          {column.name === 'request_created_at' ? (
            <FreshLink
              urlOf={() => addressOf(id)}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
                event.preventDefault();
                // The router would follow the link once more.
                event.stopPropagation();
                onOpen(id);
              }}
            >
              {column.text(row, nowMs)}
            </FreshLink>
          ) : (
            <Content row={row} column={column} nowMs={nowMs} />
          )}
        </td>
      ))}
    </tr>
  );
});
