/** The columns of the list of requests. */
import type { SortField } from '#core/contracts/query.ts';
import type { RequestRow, RowColumn } from '#core/contracts/rows.ts';
import { count, dollars, milliseconds, NOTHING } from '../../parts/formats/numbers.ts';
import { shortTime } from '../../parts/formats/times.ts';

type Cell = string | number | boolean | null | undefined;

export type GridColumn = {
  /** In the address. */
  name: string;
  title: string;
  widthRem: number;
  /** True: the column takes the width that the others leave free. Where no column is wide, all grow alike. */
  isWide?: boolean;
  /** Columns of the API that it shows. */
  needs: readonly string[];
  /** What the API sorts by. */
  sort?: SortField;
  /** The name of its field in the query language; none: a click does not filter. */
  field?: string;
  isNumber?: boolean;
  /** The value that a click filters by. */
  value: (row: RequestRow) => Cell;
  text: (row: RequestRow, nowMs: number) => string;
};

type Options = Pick<GridColumn, 'title' | 'widthRem'> &
  Partial<Pick<GridColumn, 'sort' | 'field' | 'isNumber' | 'isWide' | 'needs' | 'value' | 'text'>> & {
    format?: (value: never, nowMs: number) => string;
  };

function own<Name extends keyof RequestRow & string>(
  name: Name,
  { format, ...options }: Options,
): GridColumn {
  const value = (row: RequestRow) => row[name] as Cell;
  return {
    name,
    needs: [name],
    value,
    text: (row, nowMs) => {
      const found = value(row);
      if (found === null || found === undefined) return NOTHING;
      return format === undefined ? String(found) : format(found as never, nowMs);
    },
    ...options,
  };
}

const wholeNumber = { isNumber: true, format: (value: number) => count(value) };
const duration = { isNumber: true, format: (value: number) => milliseconds(value) };

const FIXED: readonly GridColumn[] = [
  own('request_created_at', {
    title: 'Time',
    // Wide enough for the day and time of another year's request.
    widthRem: 9.75,
    sort: 'created_at',
    format: (value: string, nowMs) => shortTime(value, nowMs),
  }),
  own('response_status', { title: 'Status', widthRem: 6, field: 'status' }),
  own('model', { title: 'Model', widthRem: 10, field: 'model_used' }),
  own('provider', { title: 'Provider', widthRem: 6.5, field: 'provider' }),
  own('request_user_id', { title: 'User', widthRem: 6.5, field: 'user' }),
  // Wide enough for 59 min 59 s.
  own('delay_ms', { title: 'Latency', widthRem: 7, sort: 'latency', ...duration }),
  own('time_to_first_token', {
    title: 'First token',
    widthRem: 7,
    sort: 'time_to_first_token',
    ...duration,
  }),
  // Wide enough for a context of millions.
  own('total_tokens', { title: 'Tokens', widthRem: 6.25, sort: 'tokens', ...wholeNumber }),
  own('prompt_tokens', { title: 'Prompt tokens', widthRem: 6.5, sort: 'prompt_tokens', ...wholeNumber }),
  own('completion_tokens', {
    title: 'Completion tokens',
    widthRem: 8.5,
    sort: 'completion_tokens',
    ...wholeNumber,
  }),
  own('cost', {
    title: 'Cost',
    // The cost of a call of some millionths of a dollar fits.
    widthRem: 7.25,
    sort: 'cost',
    isNumber: true,
    format: (value: number) => dollars(value),
  }),
  own('scores', {
    title: 'Scores',
    widthRem: 9,
    needs: ['scores', 'evaluations_pending', 'feedback_rating'],
    value: () => null,
    text: ({ scores }) =>
      Object.entries(scores ?? {})
        .map(([key, score]) => `${key} ${score}`)
        .join(', '),
  }),
  own('preview_in', { title: 'Input', widthRem: 8, isWide: true }),
  own('preview_out', { title: 'Output', widthRem: 8, isWide: true }),
  own('session_id', { title: 'Session', widthRem: 9, field: 'session' }),
  own('session_name', { title: 'Session name', widthRem: 9, field: 'session_name' }),
  own('session_path', { title: 'Session path', widthRem: 9, field: 'session_path' }),
  own('prompt_id', { title: 'Prompt', widthRem: 9, field: 'prompt' }),
  own('prompt_version', { title: 'Prompt version', widthRem: 7, field: 'prompt_version' }),
  own('request_path', { title: 'Path', widthRem: 11, field: 'path' }),
  own('request_model', { title: 'Requested model', widthRem: 10, field: 'model' }),
  own('error_code', { title: 'Error', widthRem: 10, field: 'error_code' }),
  own('source', { title: 'Source', widthRem: 6, field: 'source' }),
  own('api_key_prefix', {
    title: 'Key',
    widthRem: 8,
    field: 'api_key',
    needs: ['api_key_prefix', 'api_key_id'],
    value: ({ api_key_id: id }) => id,
  }),
  own('is_stream', { title: 'Stream', widthRem: 4.5 }),
  own('truncated', { title: 'Truncated', widthRem: 5.5 }),
  own('cached_from', { title: 'Cached from', widthRem: 9 }),
  own('response_id', { title: 'Response id', widthRem: 12, field: 'response.id' }),
];

/** Shown when the address names none. */
export const DEFAULT_COLUMNS = [
  'request_created_at',
  'response_status',
  'model',
  'request_user_id',
  'preview_in',
  'preview_out',
  'delay_ms',
  'total_tokens',
  'cost',
  'scores',
];

/** Columns at once: the API allows 60, and some are asked for besides. */
export const MOST_COLUMNS = 50;

/** Columns whose names hold that of a property or a score, with the beginning of their fields. */
const OPEN_COLUMNS = [
  { prefix: 'property:', section: 'property.', widthRem: 8 },
  { prefix: 'score:', section: 'scores.', widthRem: 6, isNumber: true },
] as const;

/** Names of all columns that every request has. */
export const FIXED_COLUMNS: readonly { name: string; title: string }[] = FIXED;

/** Returns a column by its name; null: there is no such column. */
function columnOf(name: string): GridColumn | null {
  const fixed = FIXED.find((column) => column.name === name);
  if (fixed !== undefined) return fixed;
  for (const { prefix, section, ...options } of OPEN_COLUMNS) {
    const title = name.slice(prefix.length);
    if (name.startsWith(prefix) && title !== '')
      return own(name as `${typeof prefix}${string}`, { title, field: section + title, ...options });
  }
  return null;
}

/** Reads `cols=` of the address: names, parted by commas, percent-encoded. Unknown ones are left out. */
export function readColumns(text: string | undefined): GridColumn[] {
  const names = text === undefined || text === '' ? DEFAULT_COLUMNS : text.split(',').map(decodeName);
  const found = [...new Set(names)]
    .map(columnOf)
    .filter((column) => column !== null)
    .slice(0, MOST_COLUMNS);
  return found.length > 0 ? found : DEFAULT_COLUMNS.map((name) => columnOf(name)!);
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Writes `cols=`; null for the default ones. */
export function columnsText(names: readonly string[]): string | null {
  const text = names.map((name) => name.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',');
  return text === DEFAULT_COLUMNS.join(',') ? null : text;
}

/** Columns of the API for a grid: what it shows, and what its keys and its status need of each row. */
export function neededColumns(columns: readonly GridColumn[]): string[] {
  const always: RowColumn[] = ['response_status', 'truncated', 'request_path'];
  return [...new Set([...always, ...columns.flatMap(({ needs }) => needs)])];
}
