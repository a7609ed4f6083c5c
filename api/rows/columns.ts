/** The columns of rows: the source of each, and its JSON. */

import { quoteValue } from '#core/contracts/check.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import {
  DEFAULT_ROW_COLUMNS,
  LONGEST_ROW_TEXT,
  PROPERTY_COLUMN,
  ROW_COLUMNS,
  type RowColumn,
  SCORE_COLUMN,
} from '#core/contracts/rows.ts';
import { foldName, storableText } from '#core/contracts/storable-text.ts';
import type { Parameters } from '#core/filter/mod.ts';
import { nanoToUsd } from '../requests/mod.ts';

/** A value as the driver returns it. */
export type Cell = string | number | boolean | Date | null;

/** A column of an answer. */
export type Column = {
  /** The name as the caller wrote it. */
  name: string;
  /** Returns its expression over a request `r`, its scores `s`, its key `a` and its evaluations `e`. */
  select(parameters: Parameters): string;
  /** The table that it needs beside the request. */
  from: 'scores' | 'keys' | 'evaluations' | null;
  write(cell: Cell): string;
};

const json = (cell: Cell) => JSON.stringify(cell);

/** Columns of `assay.requests` that have another name in answers. */
const RENAMED: Partial<Record<RowColumn, string>> = {
  request_created_at: 'created_at',
  request_path: 'path',
  request_user_id: 'user_id',
  response_status: 'status',
  delay_ms: 'latency_ms',
  time_to_first_token: 'ttft_ms',
  cost: 'cost_nano',
};

/** Texts that callers choose in any length. */
const CUT: ReadonlySet<string> = new Set<RowColumn>([
  'response_id',
  'session_path',
  'prompt_version',
  'experiment_id',
]);

const cut = (expression: string) => `left(${expression}, ${LONGEST_ROW_TEXT})`;

function ownColumn(name: RowColumn): Column {
  const expression = `r.${RENAMED[name] ?? name}`;
  const write =
    name === 'cost' ? (cell: Cell) => (cell === null ? 'null' : String(nanoToUsd(String(cell)))) : json;
  return { name, select: () => (CUT.has(name) ? cut(expression) : expression), from: null, write };
}

const SCORES: Column = {
  name: 'scores',
  select: () => 's.scores::text',
  from: 'scores',
  write: (cell) => (cell === null ? 'null' : String(cell)),
};
const KEY_PREFIX: Column = { name: 'api_key_prefix', select: () => 'a.prefix', from: 'keys', write: json };
const PENDING: Column = {
  name: 'evaluations_pending',
  select: () => 'e.pending',
  from: 'evaluations',
  write: json,
};

const COLUMNS: ReadonlyMap<string, Column> = new Map(
  [...DEFAULT_ROW_COLUMNS.map(ownColumn), KEY_PREFIX, SCORES, PENDING].map((column) => [column.name, column]),
);

function propertyColumn(name: string, property: string): Column {
  const folded = foldName(property);
  return {
    name,
    select: (parameters) => cut(`(r.properties_folded ->> ${parameters.bind(folded, 'text')})`),
    from: null,
    write: json,
  };
}

function scoreColumn(name: string, key: string): Column {
  const stored = storableText(key);
  return {
    name,
    select: (parameters) => `(s.scores ->> ${parameters.bind(stored, 'text')})`,
    from: 'scores',
    write: (cell) => (cell === null ? 'null' : String(cell)),
  };
}

function columnOf(name: string, index: number): Column {
  const known = COLUMNS.get(name);
  if (known !== undefined) return known;
  for (const [prefix, make] of [
    [PROPERTY_COLUMN, propertyColumn],
    [SCORE_COLUMN, scoreColumn],
  ] as const) {
    if (name.startsWith(prefix) && name.length > prefix.length) return make(name, name.slice(prefix.length));
  }
  throw invalidField(
    `columns.${index}`,
    `must be one of request_id, ${ROW_COLUMNS.join(', ')}, property:<name>, score:<key>, but is ${quoteValue(name)}`,
  );
}

const DEFAULT_COLUMNS = DEFAULT_ROW_COLUMNS.map(columnOf);

/**
 * Returns the columns of these names, each once; `request_id` is left out, because every row has it.
 * @throws AssayError invalid_body for an unknown name
 */
export function readColumns(names: readonly string[] | undefined): readonly Column[] {
  if (names === undefined) return DEFAULT_COLUMNS;
  const columns = new Map<string, Column>();
  names.forEach((name, index) => {
    if (name !== 'request_id') columns.set(name, columnOf(name, index));
  });
  return [...columns.values()];
}
