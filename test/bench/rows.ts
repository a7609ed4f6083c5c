/**
 * `npm run bench rows`: pages of `/v1/request/rows` and capped counts over the requests that `npm run bench seed` has made,
 * through the real HTTP API: the first page, page 1,000 by cursor and by offset, around a request, the newest. Beside
 * each page stands the same one of `/v1/request/query`.
 */
import { createLogger } from '#platform/observability/log.ts';
import { type Call, callerOf, timed } from './calls.ts';
import { dataDirectory, serveApi } from './cluster.ts';
import { startIncoming } from './incoming.ts';
import { describeMachine } from './machine.ts';
import { type SeededOptions, seededCommand } from './options.ts';
import { type RowCase, rowCases } from './rows/cases.ts';
import { openSeeded, type Seeded } from './seed/cluster.ts';
import { formatTable, percentile, print } from './table.ts';

/** Sorted, in milliseconds; null: there is no such page. */
type Times = number[] | null;

/** Of a deep offset, which takes seconds. */
const OFFSET_ROUNDS = 3;
const TARGET_MS = { p50: 10, p99: 50 };
const PAGE = 50;
const DEEP_PAGE = 1_000;
/** Rows of a page on the way to the deep one. */
const STRIDE = 200;

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

async function measureAll(call: Call, seeded: Seeded, options: SeededOptions): Promise<void> {
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
  const description = 'How quickly pages of rows answer over many requests of one organization';
  const options = seededCommand('rows', description, { rounds: 100 })
    .parse(args, { from: 'user' })
    .opts<SeededOptions>();
  const log = createLogger({ role: 'bench', level: 'warn' });
  using directory = dataDirectory('rows', options.dataDir);
  await using cluster = await openSeeded(directory.path, options.requests, log);
  const { url, seeded } = cluster;
  await using api = await serveApi(cluster);
  const call = callerOf(api.url, seeded.key);
  if (!(options.incoming > 0)) return await measureAll(call, seeded, options);
  const { organizationId } = seeded;
  await using incoming = await startIncoming({ url, organizationId, perSecond: options.incoming });
  await measureAll(call, seeded, options);
  print(`Meanwhile ingest stored ${await incoming.stop()} requests a second`);
}
