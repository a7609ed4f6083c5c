/** Runs of evaluators of sessions over history: which sessions they take, and at which of their requests. */
import t from 'tap';
import { isSampled } from '#core/scoring/mod.ts';
import { PYTHON } from '../../../support/evaluators-process.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';
import { OK, requestIds, scheduleAll, scheduledOf, setUp } from './runs-world.ts';

const START = Date.now() - 3_600_000;
const SESSIONS = { ...PYTHON, scope: 'session' };

type Setting = Awaited<ReturnType<typeof setUp>>;

const insert = ({ world, organizationId }: Setting, requests: Partial<SeedRequest>[]) =>
  insertRequests(
    world.sql,
    organizationId,
    requests.map((request, index) => ({ created_at: new Date(START + index * 1_000), ...request })),
  );

t.test('a run takes each session once, at its newest request, where any request of it passes', async (t) => {
  const setting = await setUp(t);
  const { world, make, start, dryRun, get } = setting;
  const rows = await insert(setting, [
    { request_id: 'a1', session_id: 'a', status: 200 },
    { request_id: 'b1', session_id: 'b', status: 500 },
    { request_id: 'a2', session_id: 'a', status: 500 },
    { request_id: 'b2', session_id: 'b', status: 500 },
    { request_id: 'c1', session_id: 'c', status: 200 },
    { request_id: 'judge', session_id: 'c', source: 'evaluator' },
    { request_id: 'alone', session_id: null, status: 200 },
    { request_id: 'a3', session_id: 'a', status: 500, created_at: new Date(Date.now() + 60_000) },
  ]);
  t.equal(rows.length, 8);
  const evaluator = await make('sessions', SESSIONS);
  t.match(await dryRun(evaluator, { filter: OK }), { matching: 2, already_scored: 0 });
  const run = await start(evaluator, { filter: OK });
  await scheduleAll(world);
  t.same(
    requestIds(await scheduledOf(world, evaluator)),
    ['a2', 'c1'],
    'a3 is after the beginning of the run',
  );
  t.match(await get(evaluator, run), { scheduled: 2 });
  const stored = await world.sql`select session_id from assay.evaluations order by request_id`;
  t.same(
    stored.map(({ session_id }) => session_id),
    ['a', 'c'],
  );
  t.match(await dryRun(evaluator, { filter: OK }), { matching: 2, already_scored: 2 });
});

t.test('a run samples sessions by their ids, and takes the newest with a limit', async (t) => {
  const setting = await setUp(t);
  const { world, make, start } = setting;
  const ids = Array.from({ length: 40 }, (_, index) => `s${String(index).padStart(2, '0')}`);
  await insert(
    setting,
    ids.flatMap((id) => [
      { request_id: `${id}-1`, session_id: id },
      { request_id: `${id}-2`, session_id: id },
    ]),
  );
  const limited = await make('limited', SESSIONS);
  await start(limited, { limit: 3 });
  await scheduleAll(world);
  t.same(requestIds(await scheduledOf(world, limited)), ['s37-2', 's38-2', 's39-2']);

  const sampled = await make('sampled', SESSIONS);
  await start(sampled, { sample: { n: 10 } });
  await scheduleAll(world);
  const taken = requestIds(await scheduledOf(world, sampled));
  t.equal(taken.length, 10);
  const share = Math.max(
    ...ids.filter((id) => taken.includes(`${id}-2`)).map((id) => pointOf(sampled.evaluatorId, id)),
  );
  t.same(
    taken,
    ids.filter((id) => pointOf(sampled.evaluatorId, id) <= share).map((id) => `${id}-2`),
    'those with the lowest points, as online evaluation would take them',
  );
});

/** The lowest rate, in percent, at which an evaluator takes a session: so finely that no two have the same. */
function pointOf(evaluatorId: string, sessionId: string): number {
  let [without, taken] = [0, 100];
  for (let halving = 0; halving < 40; halving += 1) {
    const rate = (without + taken) / 2;
    if (isSampled(evaluatorId, sessionId, rate)) taken = rate;
    else without = rate;
  }
  return taken;
}
