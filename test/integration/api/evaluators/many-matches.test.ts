/** Estimates of runs over many requests. */
import t from 'tap';
import { systemClock as clock } from '#platform/process/clock.ts';
import { dryRun } from '../../../../api/evaluators/dry-run.ts';
import { startWorld } from '../../../support/evaluation-queue.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { rowsRead } from '../../../support/rows-read.ts';

const MANY = 12_000;
const FEW = 1_000;

const world = await startWorld(t);

/** Makes many requests with a score, the first of them with an evaluation, too. */
async function scored(evaluations: number) {
  const organizationId = await world.organization();
  const { evaluatorId } = await world.evaluator(organizationId);
  await world.sql`
    with made as (
      insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, status, properties_folded,
        is_stream, truncated)
      select ${organizationId}, date_trunc('milliseconds', now()), 'r' || n, 'gateway', '/', 'OPENAI', 'gpt-4o', 200, '{}', false, false
        from generate_series(1, ${MANY}::int4) n returning created_at, request_id
    ), scored as (
      insert into assay.request_scores (organization_id, created_at, request_id, key, value, updated_at)
      select ${organizationId}, created_at, request_id, 'polite', 1, created_at from made
    )
    insert into assay.evaluations
      (organization_id, evaluator_id, version, created_at, request_id, lane, priority, due_at, scheduled_at, state, score, finished_at)
    select ${organizationId}, ${evaluatorId}, 1, created_at, request_id, 'remote', 2, now(), now(), 'completed', 1, now()
      from made limit ${evaluations}`;
  await world.sql`vacuum (analyze) assay.requests, assay.request_scores, assay.evaluations`;
  return { organizationId, evaluatorId, filter: { scores: { polite: { gte: 1 } } }, maxCostNano: null };
}

const requests = { count: async () => MANY } as never;

t.test('an estimate of many requests by a score looks none of them up by itself', async (t) => {
  const wanted = await scored(MANY);
  const sql = connectAsApi(world.url);
  t.teardown(() => sql.end());
  const looks = async () => {
    await world.sql`select pg_stat_force_next_flush()`;
    const [row] = await world.sql<{ looks: number }[]>`
      select sum(coalesce(idx_scan, 0))::int4 as looks from pg_stat_user_tables where schemaname = 'assay'`;
    return row!.looks;
  };
  const before = await looks();
  const estimate = await dryRun({ sql, requests, clock }, wanted);
  t.match(estimate, { matching: MANY, already_scored: MANY });
  await sql.end();
  const made = (await looks()) - before;
  t.ok(made < FEW, `${made} look-ups for ${MANY} requests`);
});

t.test('that of an evaluator with few evaluations does not read all requests', async (t) => {
  const wanted = await scored(100);
  const sql = connectAsApi(world.url);
  t.teardown(() => sql.end());
  const { all } = await rowsRead(sql, '^(requests|request_scores)', async (inside) => {
    t.match(await dryRun({ sql: inside, requests, clock }, wanted), { already_scored: 100 });
  });
  t.ok(all < FEW, `${all} of ${MANY} read`);
});
