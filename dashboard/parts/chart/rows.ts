/** The values of a chart as a table, and as CSV. Pure. */
import type { Buckets } from './buckets.ts';
import type { ChartContent } from './series.ts';

export type ChartRow = { begin: number; values: readonly (number | null)[] };
export type ChartRows = { titles: string[]; rows: ChartRow[] };

/** Returns a row for each bucket, with the values of all series and then of the period before. */
export function rowsOf(
  { series, ghosts = [] }: Pick<ChartContent, 'series' | 'ghosts'>,
  { begins }: Buckets,
): ChartRows {
  const all = [...series, ...ghosts];
  return {
    titles: all.map(({ label }) => label),
    rows: begins.map((begin, index) => ({ begin, values: all.map(({ values }) => values[index] ?? null) })),
  };
}

/** Spreadsheets run what begins so as a formula, and labels are texts of records. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns the rows as CSV: moments as RFC 3339 in UTC, values as they are, nothing for a missing one. */
export function csvOf({ titles, rows }: ChartRows): string {
  const lines = rows.map(({ begin, values }) =>
    [new Date(begin).toISOString(), ...values.map((value) => (value === null ? '' : String(value)))].join(
      ',',
    ),
  );
  return [['begin', ...titles.map(cell)].join(','), ...lines, ''].join('\n');
}
