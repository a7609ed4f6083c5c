/** Work that a clock which was ahead has scheduled, after that clock was set back. */
import t from 'tap';
import { bringAllForward } from '../../../evaluators/set-back.ts';
import { startWorld } from '../../support/evaluation-queue.ts';
import { silentLog } from '../../support/world.ts';

const HOUR_MS = 3_600_000;

t.test('evaluations of a clock that was set back are due as if it had not been ahead', async (t) => {
  const world = await startWorld(t);
  const { sql } = world;
  const evaluator = await world.evaluator(await world.organization(), { scoringType: 'LLM-BOOLEAN' });
  const ids = await world.requests(evaluator.organizationId, 5);
  const schedule = async (at: number, given: object) =>
    (await world.schedule(evaluator, [ids[at]!], given))[0]!;
  const [fresh, idle, running, budget, ahead] = [
    await schedule(0, {}),
    await schedule(1, { dueInMs: 10 * 60_000 }),
    await schedule(2, { state: 'running' }),
    await schedule(3, { dueInMs: 20 * HOUR_MS }),
    await schedule(4, {}),
  ];
  // All but that which waits for its budget were written five hours ahead, the lease by a process that has died since.
  await sql`
    update assay.evaluations set due_at = due_at + interval '5 hours', scheduled_at = scheduled_at + interval '5 hours'
     where evaluation_id = any(${[fresh, idle, ahead]}::int8[])`;
  await sql`update assay.evaluations set due_at = now() + interval '5 hours' where evaluation_id = ${running}`;
  await bringAllForward(sql, silentLog);
  const rows = await sql<{ id: string; minutes: number; isScheduled: boolean }[]>`
    select evaluation_id as id, extract(epoch from due_at - now())::float8 / 60 as minutes, scheduled_at <= now() as "isScheduled"
      from assay.evaluations`;
  const minutes = (id: string) => rows.find((row) => row.id === id)!.minutes;
  for (const id of [fresh, ahead]) t.ok(minutes(id) <= 0, 'what was due at once is due');
  t.ok(minutes(idle) > 9 && minutes(idle) <= 10, 'a wait is kept');
  t.ok(minutes(running) > 0 && minutes(running) <= 1, 'a lease ends in a minute');
  t.ok(minutes(budget) > 1_199, 'what waits by the clock of today does so');
  t.ok(rows.every((row) => row.isScheduled));
});
