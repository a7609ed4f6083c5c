/**
 * Returns the largest possible sum of one value from each row, no two from the same column: the assignment problem, solved
 * by the Hungarian method with potentials (H. W. Kuhn 1955, J. Munkres 1957) in time cubic in the size. Each row is assigned
 * a column along the cheapest path of exchanges; surplus rows or columns stay unassigned.
 */
export function maximumAssignment(values: readonly (readonly number[])[]): number {
  const isWide = values.length <= values[0]!.length;
  const wide = isWide ? values : values[0]!.map((_, column) => values.map((row) => row[column]!));
  const columnCount = wide[0]!.length;
  /** The row assigned to each column; -1: none. The last column is not in the table: each exchange begins there. */
  const rowOf = new Array<number>(columnCount + 1).fill(-1);
  const rowPotential = new Array<number>(wide.length).fill(0);
  const columnPotential = new Array<number>(columnCount + 1).fill(0);
  for (const row of wide.keys()) {
    rowOf[columnCount] = row;
    exchange({ wide, rowOf, rowPotential, columnPotential });
  }
  return rowOf
    .slice(0, columnCount)
    .reduce((sum, row, column) => sum + (row === -1 ? 0 : wide[row]![column]!), 0);
}

type Assignment = {
  wide: readonly (readonly number[])[];
  rowOf: number[];
  rowPotential: number[];
  columnPotential: number[];
};

/** Assigns the row of the last column a column of the table, and moves other rows where that costs least. */
function exchange({ wide, rowOf, rowPotential, columnPotential }: Assignment): void {
  const start = rowOf.length - 1;
  const slack = new Array<number>(start).fill(Number.POSITIVE_INFINITY);
  const from = new Array<number>(start).fill(start);
  const isDone = new Array<boolean>(start + 1).fill(false);
  let column = start;
  while (rowOf[column] !== -1) {
    isDone[column] = true;
    const row = rowOf[column]!;
    let next = -1;
    for (let other = 0; other < start; other += 1) {
      if (isDone[other]) continue;
      // A cost is a value with its sign reversed.
      const cost = -wide[row]![other]! - rowPotential[row]! - columnPotential[other]!;
      if (cost < slack[other]!) {
        slack[other] = cost;
        from[other] = column;
      }
      if (next === -1 || slack[other]! < slack[next]!) next = other;
    }
    const step = slack[next]!;
    for (const [other, done] of isDone.entries()) {
      if (done) {
        rowPotential[rowOf[other]!]! += step;
        columnPotential[other]! -= step;
      } else slack[other]! -= step;
    }
    column = next;
  }
  while (column !== start) {
    rowOf[column] = rowOf[from[column]!]!;
    column = from[column]!;
  }
  rowOf[start] = -1;
}
