/** Evaluations in a rare state among many others. */
import t from 'tap';
import { systemClock as clock } from '#platform/process/clock.ts';
import { createEvaluations } from '../../../../api/evaluators/evaluations.ts';
import { reopenAll } from '../../../../api/evaluators/reopen.ts';
import { type Evaluator, startWorld, type World } from '../../../support/evaluation-queue.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { rowsRead } from '../../../support/rows-read.ts';

const MANY = 20_000;
const FEW = 100;

let world: World;
let evaluator: Evaluator;
t.before(async () => {
  world = await startWorld(t);
  evaluator = await world.evaluator(await world.organization());
  await world.scheduleMany(evaluator, MANY, { state: 'completed' });
  await world.scheduleMany(evaluator, 1, { state: 'dead' });
  await world.sql`update assay.evaluations set finished_at = now() - interval '1 min'`;
  await world.sql`update assay.evaluations set error_code = 'worker_lost' where state = 'dead'`;
  await world.sql`vacuum (full, analyze) assay.evaluations`;
});

/** Returns the evaluations that `work` reads as the API does, by the plans that PostgreSQL keeps for statements it has run often. */
async function rowsOf(work: (sql: World['sql']) => Promise<unknown>): Promise<number> {
  const sql = connectAsApi(world.url);
  try {
    const { all } = await rowsRead(sql, '^evaluations$', async (inside) => {
      await inside`set local plan_cache_mode = force_generic_plan`;
      await work(inside);
    });
    return all;
  } finally {
    await sql.end();
  }
}

for (const state of ['dead', 'error', 'cancelled', 'skipped', 'pending', 'paused', 'running'] as const) {
  t.test(`those that are ${state} are listed without reading all the others`, async (t) => {
    const { organizationId, evaluatorId } = evaluator;
    for (const query of [{ state }, { state, evaluatorId }]) {
      let listed: unknown[] = [];
      const read = await rowsOf(async (sql) => {
        listed = await createEvaluations({ sql, clock }).query(organizationId, query);
      });
      t.equal(listed.length, state === 'dead' ? 1 : 0);
      t.ok(read < FEW, `${read} of ${MANY} read, of ${Object.keys(query).join(' and ')}`);
    }
  });
}

t.test('those with an error code are listed without reading all the others', async (t) => {
  const { organizationId, evaluatorId } = evaluator;
  for (const errorCode of ['worker_lost', 'judge_timeout']) {
    for (const query of [{ errorCode }, { errorCode, evaluatorId }]) {
      let listed: unknown[] = [];
      const read = await rowsOf(async (sql) => {
        listed = await createEvaluations({ sql, clock }).query(organizationId, query);
      });
      t.equal(listed.length, errorCode === 'worker_lost' ? 1 : 0);
      t.ok(read < FEW, `${read} of ${MANY} read, of ${Object.keys(query).join(' and ')}`);
    }
  }
});

t.test('those that failed are retried without reading all the others', async (t) => {
  const { organizationId, evaluatorId } = evaluator;
  let retried: unknown;
  const read = await rowsOf(async (sql) => {
    const states = ['error', 'dead', 'cancelled'] as const;
    retried = await reopenAll({ sql, clock }, organizationId, evaluatorId, { states: [...states] });
  });
  t.strictSame(retried, { retried: 1 });
  t.ok(read < FEW, `${read} of ${MANY} read`);
});
