/** Aligns columns: the first to the left, the others to the right; the first row is the head. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ');
  const [head, ...body] = rows.map(line);
  return [head, '-'.repeat(head?.length ?? 0), ...body].join('\n');
}
