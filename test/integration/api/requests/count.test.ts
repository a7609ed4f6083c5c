/** Counts that stop at a number. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  await insertRequests(
    api.database.sql,
    api.own.organizationId,
    Array.from({ length: 6 }, (_, index) => ({
      status: index < 4 ? 200 : 500,
      properties: { plan: index < 5 ? 'pro' : 'free' },
      ...(index < 3 && { scores: { good: index, fair: 1 } }),
    })),
  );
  await insertRequests(api.database.sql, api.other.organizationId, [{}, {}]);
});

async function count(body: object): Promise<unknown> {
  const answer = await api.call('/v1/request/count/query', { body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body.data;
}

t.test('a count stops at atMost, and says that there are at least so many', async (t) => {
  const CASES: [object, number][] = [
    [{ filter: 'all' }, 6],
    [{ filter: { response: { status: { equals: 200 } } } }, 4],
    [{ filter: { response: { status: { gte: 500 } } } }, 2],
    [{ filter: { properties: { plan: { equals: 'pro' } } } }, 5],
    [{ filter: { scores: { good: { gte: 1 } } } }, 2],
    [{ filter: 'all', isScored: true }, 3],
    [{ q: 'status:200' }, 4],
  ];
  for (const [body, all] of CASES) {
    t.equal(await count(body), all, JSON.stringify(body));
    for (let atMost = 1; atMost <= all + 1; atMost += 1) {
      const expected = { count: Math.min(all, atMost), atLeast: atMost <= all };
      t.strictSame(await count({ ...body, atMost }), expected, `${JSON.stringify(body)}, at most ${atMost}`);
    }
  }
  t.strictSame(await count({ filter: { response: { status: { equals: 418 } } }, atMost: 1 }), {
    count: 0,
    atLeast: false,
  });
});

t.test('atMost is a whole number from 1 to a million', async (t) => {
  for (const atMost of [0, -1, 1.5, 1_000_001, '10', null]) {
    const { status, body } = await api.call('/v1/request/count/query', { body: { filter: 'all', atMost } });
    t.equal(status, 400, String(atMost));
    t.match(body.error, /^atMost must be /);
  }
});

/** Returns how often an index of scores has been looked into, by all connections that have told yet. */
async function scoreLookUps(): Promise<number> {
  const [row] = await api.database.sql<{ scans: number }[]>`
    select sum(idx_scan)::int4 as scans from pg_stat_user_tables where relname like 'request_scores%'`;
  return row!.scans;
}

t.test('a count by a score of many requests reads these, and no others', async (t) => {
  const { sql } = api.database;
  const [SCORED, ALL] = [1_500, 20_000];
  const { organizationId } = api.other;
  const at = '2026-05-05T00:00:00Z';
  await sql`select assay.ensure_partitions(${at}::timestamptz)`;
  await sql`
    insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, status, is_stream, truncated)
    select ${organizationId}, ${at}, 'r' || n, 'gateway', '/', 'OPENAI', 'm', case when n % 3 = 0 then 500 else 200 end, false, false
      from generate_series(1, ${ALL}::int4) n`;
  await sql`
    insert into assay.request_scores (organization_id, created_at, request_id, key, value, updated_at)
    select ${organizationId}, ${at}, 'r' || n, 'many', n % 2, ${at} from generate_series(1, ${SCORED}::int4) n`;
  const ask = async (body: object) => {
    const answer = await api.call('/v1/request/count/query', { body, key: api.other.key });
    return (answer.body as { data: { count: number; atLeast: boolean } }).data;
  };
  const failed = { response: { status: { equals: 500 } } };
  const branch = (left: object, right: object) => ({ left, operator: 'and', right });
  const scored = { scores: { many: { gte: 0 } } };
  const before = await scoreLookUps();
  t.strictSame(await ask({ filter: scored, atMost: 10_000 }), { count: SCORED, atLeast: false });
  t.strictSame(await ask({ filter: 'all', isScored: true, atMost: 10_000 }), {
    count: SCORED,
    atLeast: false,
  });
  t.strictSame(await ask({ filter: branch(scored, failed), atMost: 10_000 }), { count: 500, atLeast: false });
  t.strictSame(await ask({ filter: branch(scored, failed), atMost: 500 }), { count: 500, atLeast: true });
  t.strictSame(await ask({ filter: scored, atMost: 1_499 }), { count: 1_499, atLeast: true });
  let lookUps = 0;
  // Postgres tells of a connection's work up to ten seconds later.
  for (let tries = 0; tries < 150 && lookUps === 0; tries += 1) {
    await sleep(100);
    lookUps = (await scoreLookUps()) - before;
  }
  t.ok(lookUps > 0 && lookUps < ALL / 2, `${lookUps} look-ups`);

  await sql`
    insert into assay.request_scores (organization_id, created_at, request_id, key, value, updated_at)
    select ${organizationId}, ${at}, 'r' || n, 'all', n, ${at} from generate_series(1, ${ALL}::int4) n`;
  const all = branch({ scores: { all: { gte: 0 } } }, failed);
  t.strictSame(
    await ask({ filter: all, atMost: 10_000 }),
    { count: 6_666, atLeast: false },
    'too many to look up',
  );
  t.strictSame(await ask({ filter: all, atMost: 6_666 }), { count: 6_666, atLeast: true });
});
