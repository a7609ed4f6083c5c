/** Fields in which bodies differ. */
import { useMemo } from 'preact/hooks';
import { NOTHING } from '../formats/numbers.ts';
import { type Column, Table } from '../table/table.tsx';
import { Hostile } from '../text/hostile.tsx';
import { compareStructures, type Difference, MOST_PATHS } from './structure.ts';

/** UTF-16 code units of a value. */
const LONGEST = 300;
/** Rows at once. */
const MOST_ROWS = 300;

function columnsFor(titles: readonly string[]): Column<Difference>[] {
  const values = titles.map((title, index) => ({
    name: String(index),
    title,
    cell: ({ values }: Difference) => {
      const value = values[index];
      return value === undefined ? NOTHING : <Hostile text={value.slice(0, LONGEST)} />;
    },
  }));
  return [
    {
      name: 'path',
      title: 'Field',
      cell: ({ path }) => (
        <code>
          <Hostile text={path} />
        </code>
      ),
    },
    ...values,
  ];
}

/** Shows a row a field. `titles` name the documents, of which a null one is too long to be compared. */
export function StructureTable({
  documents,
  titles,
}: {
  documents: readonly unknown[];
  titles: readonly string[];
}) {
  const { differences, isCut } = useMemo(() => compareStructures(documents), [documents]);
  if (documents.includes(null)) return <p class="muted">A body is too long to be compared by its fields.</p>;
  return (
    <>
      <Table
        caption="Fields that differ"
        columns={columnsFor(titles)}
        rows={differences.slice(0, MOST_ROWS)}
        keyOf={({ path }) => path}
        empty="All fields are equal."
      />
      {(isCut || differences.length > MOST_ROWS) && (
        <p class="muted">
          The first {MOST_ROWS} differences among the first {MOST_PATHS} fields of each body.
        </p>
      )}
    </>
  );
}
