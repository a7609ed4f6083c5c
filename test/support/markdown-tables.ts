/** The rows of the table whose head begins with this, cell by cell; its head left out. */
export function rowsOf(document: string, head: string): string[][] {
  const from = document.indexOf(`\n| ${head} |`);
  if (from === -1) throw new Error(`There is no table that begins with "${head}"`);
  const [table = ''] = document.slice(from + 1).split('\n\n');
  const rows = table.trimEnd().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
