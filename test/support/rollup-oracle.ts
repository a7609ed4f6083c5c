/** What roll-ups must be, computed here from all rows, one by one: nothing is shared with the statements that compute them. */
import type { Sql } from '#platform/postgres/mod.ts';

type Row = {
  organization: string;
  ms: number;
  id: string;
  source: string;
  provider: string;
  model: string;
  status: number;
  apiKey: string | null;
  path: string;
  promptId: string | null;
  promptVersion: string | null;
  userId: string | null;
  cachedFrom: string | null;
  costNano: number | null;
  costSavedNano: number | null;
  promptTokens: number | null;
  completionTokens: number | null;
  totalTokens: number | null;
  latencyMs: number | null;
  ttftMs: number | null;
  rating: boolean | null;
  properties: Record<string, string>;
};
type Score = {
  organization: string;
  ms: number;
  id: string;
  key: string;
  evaluatorId: string | null;
  value: number;
};

/** Cells by a text that names bucket and dimensions; their sums in an order that does not depend on their numbers. */
export type Cells = Map<string, string>;

/** Grains by family, with the age in minutes up to which their cells are compared. */
const COMPARED: readonly [family: 'totals' | 'values' | 'scores', seconds: number, minutes: number][] = [
  ['totals', 10, 115],
  ['totals', 60, 2_875],
  ['totals', 1_800, Number.POSITIVE_INFINITY],
  ['totals', 10_800, Number.POSITIVE_INFINITY],
  ['totals', 86_400, Number.POSITIVE_INFINITY],
  ['values', 60, 115],
  ['values', 1_800, 11_515],
  ['values', 86_400, Number.POSITIVE_INFINITY],
  ['scores', 60, 2_875],
  ['scores', 1_800, Number.POSITIVE_INFINITY],
  ['scores', 86_400, Number.POSITIVE_INFINITY],
];

const LONGEST_VALUE = 256;

async function readRows(sql: Sql): Promise<{ rows: Row[]; scores: Score[] }> {
  const rows = await sql<Row[]>`
    select organization_id as organization, extract(epoch from created_at)::float8 * 1000 as ms, request_id as id, source, provider, model,
           status, api_key_id as "apiKey", path, prompt_id as "promptId", prompt_version as "promptVersion", user_id as "userId",
           cached_from as "cachedFrom", cost_nano::float8 as "costNano", cost_saved_nano::float8 as "costSavedNano",
           prompt_tokens as "promptTokens", completion_tokens as "completionTokens", total_tokens as "totalTokens",
           latency_ms as "latencyMs", ttft_ms as "ttftMs", feedback_rating as rating, properties_folded as properties
      from assay.requests`;
  const scores = await sql<Score[]>`
    select organization_id as organization, extract(epoch from created_at)::float8 * 1000 as ms, request_id as id, key,
           evaluator_id as "evaluatorId", value
      from assay.request_scores`;
  return { rows, scores };
}

/** Sums as texts: null where there is nothing to be summed, and no zeros. */
const sum = (values: number[]) => nullForZero(values.reduce((all, one) => all + one, 0));
const nullForZero = (value: number) => (value === 0 ? null : value);
// Not `Math.min(...values)`: a run of chaos has more values than a call may have parameters.
const leastOf = (values: number[]) => values.reduce((least, one) => Math.min(least, one));
const greatestOf = (values: number[]) => values.reduce((greatest, one) => Math.max(greatest, one));
const least = (values: number[]) => (values.length === 0 ? null : leastOf(values));
const greatest = (values: number[]) => (values.length === 0 ? null : greatestOf(values));
const known = (values: (number | null)[]) => values.filter((value) => value !== null);

/** Thousandths of a token per second. */
function speed({ cachedFrom, completionTokens, latencyMs, ttftMs }: Row): number | null {
  if (cachedFrom !== null || completionTokens === null || completionTokens === 0 || latencyMs === null)
    return null;
  const generatingMs = latencyMs - (ttftMs ?? 0);
  return generatingMs > 0 ? Math.floor((completionTokens * 1_000_000) / generatingMs) : null;
}

const MEASURED: readonly ((row: Row) => number | null)[] = [
  (row) => row.costNano,
  (row) => row.costSavedNano,
  (row) => row.promptTokens,
  (row) => row.completionTokens,
  (row) => row.totalTokens,
  (row) => row.latencyMs,
  (row) => row.ttftMs,
  speed,
];

function totalsOf(rows: Row[]) {
  return [
    rows.length,
    nullForZero(rows.filter(({ status }) => status >= 400).length),
    nullForZero(rows.filter(({ cachedFrom }) => cachedFrom !== null).length),
    ...MEASURED.flatMap((measure) => {
      const values = known(rows.map(measure));
      return [nullForZero(values.length), sum(values), least(values), greatest(values)];
    }),
  ];
}

function binsOf(values: number[]) {
  const bins = Map.groupBy(values, (value) =>
    value > 0 ? Math.ceil(Math.log(value) / Math.log(1.02 / 0.98)) : -1,
  );
  return [...bins].sort(([left], [right]) => left - right).map(([bin, all]) => [bin, all.length]);
}

const LEVELS: Readonly<Record<string, (row: Row) => unknown[]>> = {
  source: (row) => [row.source],
  model: (row) => [row.source, row.provider, row.model],
  status: (row) => [row.source, row.provider, row.model, row.status],
  api_key: (row) => [row.source, row.apiKey],
  prompt: (row) => [row.source, row.promptId, row.promptVersion],
  path: (row) => [row.source, row.path],
};

function valuesOf(rows: Row[]) {
  const measured = [0, 2, 3, 4]
    .map((place) => MEASURED[place]!)
    .flatMap((measure) => {
      const values = known(rows.map(measure));
      return [nullForZero(values.length), sum(values)];
    });
  const times = rows.map(({ ms }) => ms);
  return [...totalsOf(rows).slice(0, 2), ...measured, leastOf(times), greatestOf(times)];
}

type Put = (family: string, ...named: unknown[]) => (sums: unknown) => void;

function putTotals(rows: Row[], put: Put): void {
  for (const [level, dimensions] of Object.entries(LEVELS)) {
    for (const [key, cell] of Map.groupBy(rows, (row) => JSON.stringify(dimensions(row)))) {
      put('totals', level, key)(totalsOf(cell));
      if (level !== 'source' && level !== 'model') continue;
      for (const [metric, measure] of Object.entries({
        latency_ms: 5,
        ttft_ms: 6,
        milli_tokens_per_second: 7,
      })) {
        const values = known(cell.map(MEASURED[measure]!));
        if (values.length > 0) put('histograms', level, metric, key)(binsOf(values));
      }
    }
  }
}

function putValues(rows: Row[], put: Put): void {
  const users = rows.filter(({ userId }) => userId !== null);
  for (const [key, cell] of Map.groupBy(users, (row) => JSON.stringify([row.userId, row.source]))) {
    put('values', 'user', '', false, key)(valuesOf(cell));
  }
  const pairs = rows.flatMap((row) =>
    Object.entries(row.properties).map(([name, value]) => ({ row, name, value })),
  );
  const byName = Map.groupBy(pairs, ({ row, name, value }) => {
    const isOther = value.length > LONGEST_VALUE;
    return JSON.stringify([name, isOther, isOther ? '' : value, row.source]);
  });
  for (const [key, cell] of byName) {
    const [name, isOther, value, source] = JSON.parse(key);
    put(
      'values',
      'property',
      name,
      isOther,
      JSON.stringify([value, source]),
    )(valuesOf(cell.map(({ row }) => row)));
  }
}

/** Days have sums of all users, and of all values of each property. */
function putSumsOfValues(rows: Row[], put: Put): void {
  const named = rows.flatMap((row) => [
    ...(row.userId === null ? [] : [{ row, dimension: 'user', name: '' }]),
    ...Object.keys(row.properties).map((name) => ({ row, dimension: 'property', name })),
  ]);
  const byName = Map.groupBy(named, ({ row, dimension, name }) =>
    JSON.stringify([dimension, name, row.source]),
  );
  for (const [key, cell] of byName) {
    const [dimension, name, source] = JSON.parse(key);
    const sums = valuesOf(cell.map(({ row }) => row));
    put('values', `${dimension}_sum`, name, false, JSON.stringify(['', source]))(sums);
  }
}

function putScores(rows: Row[], scores: Score[], put: Put): void {
  const byKey = new Map(rows.map((row) => [`${row.organization} ${row.id}`, row]));
  const scored = [
    ...scores.map(({ organization, id, key, evaluatorId, value }) => ({
      row: byKey.get(`${organization} ${id}`)!,
      named: ['score', key, evaluatorId],
      value,
    })),
    ...rows
      .filter(({ rating }) => rating !== null)
      .map((row) => ({ row, named: ['feedback', '', null], value: row.rating === true ? 1 : 0 })),
  ];
  const levels = {
    source: (row: Row) => [row.source],
    model: LEVELS.model!,
    prompt: LEVELS.prompt!,
  };
  for (const [level, dimensions] of Object.entries(levels)) {
    for (const [key, cell] of Map.groupBy(scored, ({ row, named }) =>
      JSON.stringify([...named, ...dimensions(row)]),
    )) {
      const values = cell.map(({ value }) => value);
      // Values of tests are multiples of 1/1024, whose sums are exact.
      put(
        'scores',
        level,
        key,
      )([values.length, values.reduce((all, one) => all + one, 0), leastOf(values), greatestOf(values)]);
    }
  }
}

/** Computes all cells that are compared, from all rows of the database. */
export async function expectedCells(sql: Sql, nowMs: number): Promise<Cells> {
  const { rows, scores } = await readRows(sql);
  const cells: Cells = new Map();
  for (const [family, seconds, minutes] of COMPARED) {
    const bucketOf = ({ organization, ms }: { organization: string; ms: number }) =>
      `${organization} ${Math.floor(ms / (seconds * 1_000)) * seconds * 1_000}`;
    const scoresOf = Map.groupBy(scores, bucketOf);
    for (const [bucket, inBucket] of Map.groupBy(rows, bucketOf)) {
      if (Number(bucket.split(' ')[1]) < nowMs - minutes * 60_000) continue;
      const put: Put =
        (table, ...named) =>
        (sums) => {
          cells.set([table, seconds, bucket, ...named].join(' '), JSON.stringify(sums));
        };
      if (family === 'totals') putTotals(inBucket, put);
      if (family === 'values') putValues(inBucket, put);
      if (family === 'values' && seconds === 86_400) putSumsOfValues(inBucket, put);
      if (family === 'scores') putScores(inBucket, scoresOf.get(bucket) ?? [], put);
    }
  }
  return cells;
}

const MEASURED_COLUMNS = [
  'cost_nano',
  'cost_saved_nano',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'latency_ms',
  'ttft_ms',
  'milli_tokens_per_second',
];
const LEVEL_COLUMNS: Readonly<Record<string, string[]>> = {
  source: ['source'],
  model: ['source', 'provider', 'model'],
  status: ['source', 'provider', 'model', 'status'],
  api_key: ['source', 'api_key_id'],
  prompt: ['source', 'prompt_id', 'prompt_version'],
  path: ['source', 'path'],
};

type Stored = Record<string, unknown> & {
  organization_id: string;
  grain_seconds: number;
  begins_at: Date;
  level: string;
};

const numberOf = (value: unknown) => (value === null ? null : Number(value));

/** Reads the cells that are compared. */
export async function storedCells(sql: Sql, nowMs: number): Promise<Cells> {
  const cells: Cells = new Map();
  const put = (family: string, table: string, row: Stored, named: unknown[], sums: unknown) => {
    const beginsMs = row.begins_at.getTime();
    const [, , minutes] = COMPARED.find(([one, seconds]) => one === family && seconds === row.grain_seconds)!;
    if (beginsMs < nowMs - minutes * 60_000) return;
    const key = [table, row.grain_seconds, `${row.organization_id} ${beginsMs}`, ...named].join(' ');
    if (cells.has(key)) throw new Error(`The cell ${key} is there twice`);
    cells.set(key, JSON.stringify(sums));
  };
  const dimensionsOf = (row: Stored) => JSON.stringify(LEVEL_COLUMNS[row.level]!.map((name) => row[name]));
  for (const row of await sql<Stored[]>`select * from assay.rollup_totals`) {
    const measured = MEASURED_COLUMNS.flatMap((name) =>
      ['count', 'sum', 'min', 'max'].map((one) => numberOf(row[`${name}_${one}`])),
    );
    put(
      'totals',
      'totals',
      row,
      [row.level, dimensionsOf(row)],
      [...['requests', 'errors', 'cache_hits'].map((name) => numberOf(row[name])), ...measured],
    );
  }
  for (const row of await sql<
    (Stored & { bins: number[]; counts: number[] })[]
  >`select * from assay.rollup_histograms`) {
    const bins = row.bins.map((bin, index) => [bin, row.counts[index]]);
    put('totals', 'histograms', row, [row.level, row.metric, dimensionsOf(row)], bins);
  }
  for (const row of await sql<
    (Stored & { first_at: Date; last_at: Date })[]
  >`select * from assay.rollup_values`) {
    put(
      'values',
      'values',
      row,
      [row.dimension, row.name, row.is_other, JSON.stringify([row.value, row.source])],
      [
        ...['requests', 'errors'].map((name) => numberOf(row[name])),
        ...[0, 2, 3, 4]
          .map((place) => MEASURED_COLUMNS[place]!)
          .flatMap((name) => ['count', 'sum'].map((one) => numberOf(row[`${name}_${one}`]))),
        row.first_at.getTime(),
        row.last_at.getTime(),
      ],
    );
  }
  for (const row of await sql<Stored[]>`select * from assay.rollup_scores`) {
    const dimensions = LEVEL_COLUMNS[row.level]!.map((name) => row[name]);
    const key = JSON.stringify([row.metric, row.key, row.evaluator_id, ...dimensions]);
    put(
      'scores',
      'scores',
      row,
      [row.level, key],
      [...['value_count', 'value_sum', 'value_min', 'value_max'].map((name) => numberOf(row[name]))],
    );
  }
  return cells;
}

/** Returns what differs, a line each; none when the roll-ups equal their rows. */
export function differencesOf(expected: Cells, stored: Cells): string[] {
  const keys = new Set([...expected.keys(), ...stored.keys()]);
  return [...keys].flatMap((key) =>
    expected.get(key) === stored.get(key)
      ? []
      : [`${key}\n  rows     ${expected.get(key) ?? 'none'}\n  roll-ups ${stored.get(key) ?? 'none'}`],
  );
}
