/** Evaluators with a long history, which Postgres has analyzed. */
import t from 'tap';
import { systemClock as clock } from '#platform/process/clock.ts';
import { createEvaluations } from '../../../../api/evaluators/evaluations.ts';
import { setStates } from '../../../../api/evaluators/set-states.ts';
import { type Evaluator, startWorld, type World } from '../../../support/evaluation-queue.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { rowsRead } from '../../../support/rows-read.ts';

const ENDED = 10_000;
const RUN = '00000000-0000-4000-8000-000000000001';

let world: World;
let old: Evaluator;
let waiting: Evaluator;
t.before(async () => {
  world = await startWorld(t);
  const organizationId = await world.organization();
  old = await world.evaluator(organizationId);
  waiting = await world.evaluator(organizationId);
  await world.sql`
    insert into assay.evaluation_runs (run_id, organization_id, evaluator_id, version, state, filter, until, created_at, updated_at)
    select ${RUN}, ${organizationId}, ${old.evaluatorId}, 1, 'scheduled', '"all"', at, at, at from (select now() - interval '3 days') begun (at)`;
  await world.scheduleMany(old, ENDED, { state: 'completed' });
  await world.scheduleMany(old, ENDED, { state: 'completed', runId: RUN });
  await world.scheduleMany(waiting, ENDED);
  await world.sql`update assay.evaluations set finished_at = now() where state = 'completed'`;
  await world.sql`update assay.evaluations set scheduled_at = now() - interval '3 days' where run_id = ${RUN}`;
  await world.sql`vacuum (full, analyze) assay.evaluations`;
});

/** Returns the rows of evaluations that `work` reads as the API does. */
async function rowsOf(work: (sql: World['sql']) => Promise<unknown>): Promise<number> {
  const sql = connectAsApi(world.url);
  try {
    return (await rowsRead(sql, '^evaluations$', work)).all;
  } finally {
    await sql.end();
  }
}

for (const kind of ['evaluator-deleted', 'budget-changed'] as const) {
  t.test(`what waits of an evaluator is found without its history (${kind})`, async (t) => {
    let changed: number | null = null;
    const read = await rowsOf(async (sql) => {
      const change = { kind, evaluatorId: old.evaluatorId };
      changed = await setStates({ sql, clock }, old.organizationId, change);
    });
    t.equal(changed, 0);
    t.ok(read < 1_000, `${read} of ${3 * ENDED} rows`);
  });
}

t.test('all that waits of a deleted evaluator ends, in whatever version and state', async (t) => {
  await world.scheduleMany(waiting, 3, { state: 'paused' });
  const change = { kind: 'evaluator-deleted', evaluatorId: waiting.evaluatorId } as const;
  const sql = connectAsApi(world.url);
  t.equal(await setStates({ sql, clock }, waiting.organizationId, change), ENDED + 3);
  await sql.end();
});

t.test('the evaluations of an old run are listed without what came after it', async (t) => {
  let found: string[] = [];
  const read = await rowsOf(async (sql) => {
    const evaluations = createEvaluations({ sql, clock });
    found = (await evaluations.query(old.organizationId, { runId: RUN })).map(({ run_id }) => run_id!);
  });
  t.same(found, Array(10).fill(RUN));
  // By time, or by the run: at most all of its own.
  t.ok(read <= ENDED + 100, `${read} of ${3 * ENDED} rows`);
});
