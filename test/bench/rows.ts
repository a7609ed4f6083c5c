/**
 * `npm run bench rows`: pages of `/v1/request/rows` and capped counts over the requests that `npm run bench seed` has made,
 * through the real HTTP API: the first page, page 1,000 by cursor and by offset, around a request, the newest. Beside
 * each page stands the same one of `/v1/request/query`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { readConfig } from '#platform/config/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startApi } from '../../api/mod.ts';
import { describeMachine } from './machine.ts';
import { wholeNumber } from './query/seed.ts';
import { type RowCase, rowCases } from './rows/cases.ts';
import { type Incoming, startIncoming } from './rows/incoming.ts';
import { readSeeded, type Seeded, seedCluster, startSeeded } from './seed/cluster.ts';
import { formatTable, percentile } from './table.ts';

type Options = { dataDir?: string; requests: number; rounds: number; only: string; incoming: number };
type Call = (path: string, body: object) => Promise<unknown>;
/** Sorted, in milliseconds; null: there is no such page. */
type Times = number[] | null;

const WARM_UP_ROUNDS = 3;
/** Of a deep offset, which takes seconds. */
const OFFSET_ROUNDS = 3;
const TARGET_MS = { p50: 10, p99: 50 };
const PAGE = 50;
const DEEP_PAGE = 1_000;
/** Rows of a page on the way to the deep one. */
const STRIDE = 200;

const print = (line: string) => process.stdout.write(`${line}\n`);

function callerOf(url: string, key: string): Call {
  return async (path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
    return (JSON.parse(text) as { data: unknown }).data;
  };
}

async function timed(call: () => Promise<unknown>, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = -Math.min(WARM_UP_ROUNDS, rounds >> 1); round < rounds; round += 1) {
    const start = performance.now();
    await call();
    if (round >= 0) times.push(performance.now() - start);
  }
  return times.sort((left, right) => left - right);
}

/** Returns the cursor of the deep page; null when there are fewer rows. */
async function deepCursor(call: Call, { body }: RowCase): Promise<string | null> {
  let after: string | null = null;
  for (let rows = 0; rows < (DEEP_PAGE - 1) * PAGE; rows += STRIDE) {
    const limit = Math.min(STRIDE, (DEEP_PAGE - 1) * PAGE - rows);
    const place = after === null ? {} : { after };
    const page = await call('/v1/request/rows', { ...body, ...place, limit, columns: ['request_id'] });
    after = (page as { next: string | null }).next;
    if (after === null) return null;
  }
  return after;
}

async function measureCase(call: Call, one: RowCase, rounds: number): Promise<[string, Times][]> {
  if (one.path !== undefined) {
    const { path, body } = one;
    return [[one.name, await timed(() => call(path, body), rounds)]];
  }
  const rows = (place: object) =>
    timed(() => call('/v1/request/rows', { ...one.body, limit: PAGE, ...place }), rounds);
  const first: [string, Times] = [one.name, await rows({})];
  if (one.isSingle) return [first];
  const query = (offset: number, times: number) =>
    timed(() => call('/v1/request/query', { ...one.body, limit: PAGE, offset }), times);
  const after = await deepCursor(call, one);
  return [
    first,
    ['  as /v1/request/query', await query(0, rounds)],
    ['  page 1,000 by cursor', after === null ? null : await rows({ after })],
    ['  backwards from there', after === null ? null : await rows({ before: after })],
    [
      '  page 1,000 by offset, as query',
      after === null ? null : await query((DEEP_PAGE - 1) * PAGE, OFFSET_ROUNDS),
    ],
  ];
}

async function measureAll(url: string, seeded: Seeded, options: Options): Promise<void> {
  const call = callerOf(url, seeded.key);
  const cases = rowCases(seeded).filter(({ name }) => name.includes(options.only));
  const table = [['milliseconds over HTTP, pages of 50', 'best', 'p50', 'p99', '']];
  let missed = 0;
  for (const one of cases) {
    for (const [name, times] of await measureCase(call, one, options.rounds)) {
      if (times === null) continue;
      // The best time is what a busy machine distorts least.
      const [best, p50, p99] = [times[0]!, percentile(times, 0.5), percentile(times, 0.99)];
      const isOurs = one.path === undefined && !name.includes('query');
      const isMissed = isOurs && one.isIndexed && (p50 > TARGET_MS.p50 || p99 > TARGET_MS.p99);
      if (isMissed) missed += 1;
      process.stderr.write(
        `${name}: ${best.toFixed(1)}, ${p50.toFixed(1)}, ${p99.toFixed(1)}${isMissed ? ', over the target' : ''}\n`,
      );
      table.push([
        name,
        best.toFixed(1),
        p50.toFixed(1),
        p99.toFixed(1),
        isMissed ? 'over the target' : isOurs && one.isIndexed ? '' : 'no target',
      ]);
    }
  }
  print(
    `${describeMachine()}\n${seeded.requests} requests over ${seeded.days} days; each call ${options.rounds} times\n`,
  );
  print(formatTable(table));
  print(`\nOver the target of p50 ${TARGET_MS.p50} ms and p99 ${TARGET_MS.p99} ms: ${missed}`);
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench rows')
    .description('How quickly pages of rows answer over many requests of one organization')
    .option('--data-dir <directory>', 'of a cluster made by bench seed; default: a new one')
    .option('--requests <number>', 'requests of a new one', wholeNumber, 1_000_000)
    .option('--only <text>', 'cases whose name contains it', '')
    .option('--rounds <number>', 'calls of each case', wholeNumber, 100)
    .option('--incoming <number>', 'requests a second that ingest stores meanwhile', Number, 0)
    .parse(args, { from: 'user' });
  const options = command.opts<Options>();
  const log = createLogger({ role: 'bench', level: 'warn' });
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'assay-bench-rows-'));
  if (readSeeded(dataDir) === null) {
    const endMs = Date.now();
    await seedCluster(dataDir, { requests: options.requests, days: 90, seed: 1, endMs }, log);
  }
  const { server, seeded } = await startSeeded(dataDir, log);
  let incoming: Incoming | null = null;
  try {
    const read = readConfig({
      DATABASE_URL: server.url,
      API_PORT: '0',
      LOG_LEVEL: 'warn',
      DATA_DIR: dataDir,
    });
    if (!read.ok) throw new Error(read.problems.join('; '));
    const api = await startApi({ config: read.config, log, clock: systemClock });
    if (options.incoming > 0) incoming = startIncoming(server.url, seeded.organizationId, options.incoming);
    await measureAll(`${api.address}`, seeded, options);
    if (incoming !== null) print(`Meanwhile ingest stored ${await incoming.stop()} requests a second`);
    await api.stop();
  } finally {
    await incoming?.stop();
    await server.stop();
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  }
}
