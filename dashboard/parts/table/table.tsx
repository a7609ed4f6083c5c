/** A table of some hundred rows at most: a real one, with a caption for those who do not see it. */
import type { ComponentChildren } from 'preact';
import { nextSort, type Sort } from './sort.ts';

export type Column<Row> = {
  /** Names the column in the address, when the table can be sorted by it. */
  name: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  isNumber?: boolean;
  /** Whether a click on the title sorts by it. */
  isSortable?: boolean;
};

function Title<Row>({
  column: { name, title, isNumber, isSortable },
  sort,
  onSort,
}: {
  column: Column<Row>;
  sort: Sort | null;
  onSort: ((sort: string | null) => void) | undefined;
}) {
  const isSorted = sort?.column === name;
  const direction = isSorted ? (sort.descending ? 'descending' : 'ascending') : undefined;
  return (
    <th scope="col" class={isNumber ? 'number' : undefined} aria-sort={direction}>
      {isSortable && onSort !== undefined ? (
        <button type="button" class="quiet table-sort" onClick={() => onSort(nextSort(name, sort))}>
          {title}
          <span aria-hidden="true">{isSorted ? (sort.descending ? ' ↓' : ' ↑') : ''}</span>
        </button>
      ) : (
        title
      )}
    </th>
  );
}

export type TableProps<Row> = {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  sort?: Sort | null;
  onSort?: (sort: string | null) => void;
  /** Shown in place of rows. */
  empty?: ComponentChildren;
  /** Whether newer rows are on their way. */
  isLoading?: boolean;
};

/**
 * Shows rows. A wide table scrolls sideways inside its own box.
 * @example <Table caption="API keys" columns={columns} rows={keys} keyOf={({ id }) => id} />
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  sort = null,
  onSort,
  empty,
  isLoading = false,
}: TableProps<Row>) {
  if (rows.length === 0 && !isLoading && empty !== undefined) return <div class="empty">{empty}</div>;
  return (
    // A box that scrolls must be reachable by key.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class={isLoading ? 'table-box busy' : 'table-box'} aria-label={caption} tabIndex={0}>
      <table class="table" aria-busy={isLoading}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Title key={column.name} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, isNumber }) => (
                <td key={name} class={isNumber ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
