/** The same rows again by nothing but inserts: what Postgres and its driver take when nobody else does anything. */
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { Assembly } from './assembly.ts';

export type Bare = {
  rows: number;
  rowsPerSecond: number;
  /** Microseconds a record: of the process that inserts, and of the server. */
  cpu: { ingest: number; postgres: number };
};

const TABLES = ['requests', 'request_bodies', 'request_properties'];
const KEY = 'organization_id, created_at, request_id';
const BATCH = 500;

type Column = { name: string; type: string };
type Table = { name: string; columns: Column[] /** Every value as text. */; rows: (string | null)[][] };

/** The rows of the oldest so many requests, in their order. */
async function readTable(sql: Sql, name: string, requests: number): Promise<Table> {
  const columns = await sql<Column[]>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = ${`assay.${name}`}::regclass and attnum > 0 and not attisdropped order by attnum`;
  const values = columns.map((column) => `${column.name}::text`).join(', ');
  const rows = await sql
    .unsafe(
      // A view has the bodies of both tables.
      `select ${values} from assay.${name === 'request_bodies' ? 'bodies' : name}
        where (${KEY}) in (select ${KEY} from assay.requests order by ${KEY} limit ${requests}) order by ${KEY}`,
    )
    .values();
  return { name, columns: [...columns], rows: [...rows] as (string | null)[][] };
}

async function insert(
  tx: TransactionSql,
  { name, columns }: Table,
  rows: readonly (string | null)[][],
): Promise<void> {
  const names = columns.map((column) => column.name).join(', ');
  await tx.unsafe(
    `insert into bare.${name} (${names})
     select ${columns.map((column) => `${column.name}::${column.type}`).join(', ')}
       from unnest(${columns.map((_, index) => `$${index + 1}::text[]`).join(', ')}) as rows (${names})`,
    columns.map((_, index) => rows.map((row) => row[index]!)),
    { prepare: true },
  );
}

/** Inserts copies of up to `requests` requests, with their bodies and properties, into tables with the same indexes. */
export async function measureBare({ sql, cpu }: Assembly, requests: number): Promise<Bare> {
  await sql`create schema bare`;
  const tables: Table[] = [];
  for (const name of TABLES) {
    await sql.unsafe(`create table bare.${name} (like assay.${name} including all)`);
    tables.push(await readTable(sql, name, requests));
  }
  const count = tables[0]!.rows.length;
  const postgresBefore = cpu().postgres!;
  const ownBefore = process.cpuUsage();
  const startedAt = performance.now();
  for (let first = 0; first < count; first += BATCH) {
    await sql.begin(async (tx) => {
      for (const table of tables) {
        const rowsARequest = table.rows.length / count;
        const batch = table.rows.slice(first * rowsARequest, (first + BATCH) * rowsARequest);
        if (batch.length > 0) await insert(tx, table, batch);
      }
    });
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const own = process.cpuUsage(ownBefore);
  const postgres = cpu().postgres! - postgresBefore;
  await sql`drop schema bare cascade`;
  return {
    rows: count,
    rowsPerSecond: count / seconds,
    cpu: { ingest: (own.user + own.system) / count, postgres: postgres / count },
  };
}
