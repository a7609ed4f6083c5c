/** Evaluations in a rare state among many others. By itself: what other tests read would be counted as well. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { RANGE, startEvaluatorApi } from '../../../support/evaluators-process.ts';

const api = await startEvaluatorApi(t);

/** Returns how many evaluations were read, by all connections that have told yet. */
async function evaluationsRead(): Promise<number> {
  const [row] = await api.database.sql<{ read: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::int4 as read from pg_stat_user_tables where relname = 'evaluations'`;
  return row!.read;
}

t.test('those of a rare state are listed and retried without reading all the others', async (t) => {
  const { sql } = api.database;
  const MANY = 20_000;
  const { id } = await api.make('/v1/evaluator', { name: 'Busy', ...RANGE });
  await sql`
    insert into assay.evaluations (organization_id, evaluator_id, version, created_at, request_id, lane, priority, state, due_at,
      score, error_code, scheduled_at, finished_at)
    select ${api.own.organizationId}, ${id}, 1, now(), 'busy' || n, 'remote', 0, case n when 1 then 'dead' else 'completed' end, now(),
      case n when 1 then null else 1 end, case n when 1 then 'judge_timeout' end, now() + n * interval '1 s', now()
      from generate_series(1, ${MANY}::int4) n`;
  await sql`vacuum analyze assay.evaluations`;
  const before = await evaluationsRead();
  const list = (body: object) => api.make<{ request_id: string }[]>('/v1/evaluation/query', body);
  t.equal((await list({ state: 'dead', evaluatorId: id })).length, 1);
  t.equal((await list({ state: 'dead' }))[0]?.request_id, 'busy1');
  for (const state of ['pending', 'paused', 'running', 'skipped', 'error', 'cancelled']) {
    t.strictSame(await list({ state, evaluatorId: id }), [], state);
  }
  t.strictSame(await api.make(`/v1/evaluator/${id}/retry`, { states: ['error', 'dead', 'cancelled'] }), {
    retried: 1,
  });
  t.equal((await list({ state: 'pending', evaluatorId: id })).length, 1);
  let read = 0;
  // Postgres tells of a connection's work up to ten seconds later.
  for (let tries = 0; tries < 150 && read === 0; tries += 1) {
    await sleep(100);
    read = (await evaluationsRead()) - before;
  }
  t.ok(read > 0 && read < MANY / 10, `${read} evaluations read`);
});
