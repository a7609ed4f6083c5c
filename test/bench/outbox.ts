/**
 * `npm run bench outbox`: what it costs to commit a log entry to the outbox, alone and with the START before it, beside
 * the same entry in SQLite (WAL, synchronous=normal), for several sizes of a group. Nothing waits for the disk.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { type Outbox, openOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { describeMachine } from './machine.ts';
import { formatTable } from './table.ts';

const CALLS = 40_000;
const GROUPS = [1, 4, 16];

function entryOf(requestBytes: number, responseBytes: number): LogEntry {
  return {
    head: Buffer.alloc(600, 'h'),
    requestBody: Buffer.alloc(requestBytes, 'q'),
    responseBody: Buffer.alloc(responseBytes, 'a'),
  };
}

const ENTRY = entryOf(1_000, 1_000);
const START = entryOf(1_000, 0);
const LARGE_START = entryOf(8_192, 0);

type Figures = { cpuMicroseconds: number; longestMs: number };

/** CPU of this process for one call, and the longest group, while `commit` takes them all, a group at a time. */
async function measure(group: number, commit: () => unknown): Promise<Figures> {
  for (let warmUp = 0; warmUp < 500; warmUp += 1) await commit();
  const cpu = process.cpuUsage();
  let longestMs = 0;
  for (let calls = 0; calls < CALLS; calls += group) {
    const startedAt = performance.now();
    await commit();
    longestMs = Math.max(longestMs, performance.now() - startedAt);
  }
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMicroseconds: (user + system) / CALLS, longestMs };
}

/** One call: its START, when there is one, and then its entry. */
async function call(outbox: Outbox, start: LogEntry | null): Promise<void> {
  const key = {};
  if (start !== null) await outbox.begin(key, start);
  await outbox.append(key, ENTRY);
}

async function measureOutbox(directory: string, group: number, start: LogEntry | null): Promise<Figures> {
  const log = createLogger({ role: 'bench', level: 'error' });
  const root = join(directory, newRequestId());
  const outbox = await openOutbox({ root, id: newRequestId(), maxBytes: 1e12, sync: 'process', log });
  const figures = await measure(group, () =>
    Promise.all(Array.from({ length: group }, () => call(outbox, start))),
  );
  await outbox.close();
  rmSync(root, { recursive: true });
  return figures;
}

async function measureSqlite(directory: string, group: number): Promise<Figures> {
  const database = new DatabaseSync(join(directory, `${group}.db`));
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  database.exec('create table entries (entry_id integer primary key, entry blob not null)');
  const insert = database.prepare('insert into entries (entry) values (?)');
  const figures = await measure(group, () => {
    database.exec('begin');
    for (let index = 0; index < group; index += 1) {
      insert.run(Buffer.concat([ENTRY.head, ENTRY.requestBody, ENTRY.responseBody]));
    }
    database.exec('commit');
  });
  database.close();
  return figures;
}

/** Runs the benchmark; it takes no arguments. */
export async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-bench-outbox-'));
  const rows = [];
  try {
    for (const group of GROUPS) {
      const figures = [
        await measureOutbox(directory, group, null),
        await measureOutbox(directory, group, START),
        await measureOutbox(directory, group, LARGE_START),
        await measureSqlite(directory, group),
      ];
      const cells = figures.flatMap(({ cpuMicroseconds, longestMs }) => [
        cpuMicroseconds.toFixed(1),
        longestMs.toFixed(1),
      ]);
      rows.push([String(group), ...cells]);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const head = ['calls a group', 'entry, CPU µs', 'longest ms'];
  for (const what of ['with START', 'with START of 8.8 KB', 'SQLite'])
    head.push(`${what}, CPU µs`, 'longest ms');
  process.stdout.write(
    `\n${describeMachine()}\n${CALLS} entries of 2.6 KB; a START of 1.6 KB unless said otherwise\n\n${formatTable([head, ...rows])}\n`,
  );
}
