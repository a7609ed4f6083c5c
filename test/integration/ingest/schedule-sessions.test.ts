/** When sessions are evaluated, and at which of their requests: through ingest as it runs. */
import t from 'tap';
import { isSampled } from '#core/scoring/mod.ts';
import { claim } from '../../../evaluators/queue/mod.ts';
import { retryAllDeadLetters } from '../../../ingest/retry-dead-letter.ts';
import { FIXED_EVALUATOR, SUCCEEDED, scheduleWorld } from './schedule-world.ts';

const setUp = await scheduleWorld(t);

type World = Awaited<ReturnType<typeof setUp>>;
const ALL = { lane: 'remote', limit: 100, roomByOrganization: new Map(), roomOfOthers: 100 } as const;

/** The evaluations of sessions, the oldest first. `due_in_s` counts from now. */
const scheduled = ({ sql }: World) => sql<
  { session_id: string; request_id: string; state: string; due_in_s: number; version: number }[]
>`select session_id, request_id, state, version, round(extract(epoch from due_at - now()))::int4 as due_in_s
    from assay.evaluations where session_id is not null order by created_at, request_id`;

const places = async (world: World) =>
  (await scheduled(world)).map((row) => `${row.session_id} ${row.request_id} ${row.state}`);

const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 12, 0, second)).getTime();

t.test('a session has one evaluation, which moves to its newest request and waits for silence', async (t) => {
  const world = await setUp(t);
  const { online, logged, ingest } = world;
  const evaluatorId = await online({ scope: 'session', idleSeconds: 600 });
  const first = await logged({ sessionId: 'chat', createdAtMs: at(1) });
  await logged({ sessionId: null, createdAtMs: at(2) });
  await ingest();
  t.match(await scheduled(world), [{ session_id: 'chat', request_id: first, state: 'pending' }]);
  const [row] = await scheduled(world);
  t.ok(row!.due_in_s > 540 && row!.due_in_s <= 600, `due in ${row!.due_in_s} s`);

  await world.sql`
    update assay.evaluations
       set due_at = now() + interval '1 second', attempts = 3, members = '[{"score": 5}]', reasoning = 'As it was',
           flags = '{repaired}', warnings = '{x}'`;
  await world.addVersion(evaluatorId, 2);
  const last = await logged({ sessionId: 'chat', createdAtMs: at(9) });
  const other = await logged({ sessionId: 'another', createdAtMs: at(4) });
  await logged({ sessionId: 'chat', createdAtMs: at(7) });
  await ingest();
  t.same(await places(world), [`another ${other} pending`, `chat ${last} pending`]);
  const moved = (await scheduled(world))[1]!;
  t.ok(moved.due_in_s > 540, 'the silence begins anew');
  t.equal(moved.version, 2);
  t.strictSame(
    [
      ...(await world.sql`
        select members, reasoning, flags, warnings from assay.evaluations where session_id = 'chat'`),
    ],
    [{ members: null, reasoning: null, flags: [], warnings: [] }],
    'what a jury said of the session as it was is forgotten',
  );

  await world.redeliver();
  t.same(
    await places(world),
    [`another ${other} pending`, `chat ${last} pending`],
    'repeated records change nothing',
  );
  t.equal((await scheduled(world))[1]!.version, 2);
});

t.test('a session that goes on after its evaluation is evaluated once more', async (t) => {
  const world = await setUp(t);
  const { online, logged, ingest, sql } = world;
  await online({ scope: 'session' });
  const first = await logged({ sessionId: 'chat', createdAtMs: at(1) });
  await ingest();
  await sql`update assay.evaluations set state = 'completed', score = 1, finished_at = now()`;
  const second = await logged({ sessionId: 'chat', createdAtMs: at(2) });
  await ingest();
  t.same(await places(world), [`chat ${first} completed`, `chat ${second} pending`]);

  // One that is being evaluated stays where it is, also once its process has given it up.
  await sql`update assay.evaluations set due_at = now() - interval '1 second' where state = 'pending'`;
  const { jobs } = await claim(sql, ALL);
  t.equal(jobs.length, 1);
  const third = await logged({ sessionId: 'chat', createdAtMs: at(3) });
  await ingest();
  await sql`update assay.evaluations set state = 'pending' where state = 'running'`;
  const fourth = await logged({ sessionId: 'chat', createdAtMs: at(4) });
  await ingest();
  t.same(await places(world), [
    `chat ${first} completed`,
    `chat ${second} pending`,
    `chat ${fourth} pending`,
  ]);
  t.not(third, fourth);
});

t.test('an evaluation that waits for its evaluator to be resumed moves, too', async (t) => {
  const world = await setUp(t);
  await world.online({ scope: 'session' });
  await world.logged({ sessionId: 'chat', createdAtMs: at(1) });
  await world.ingest();
  await world.sql`update assay.evaluations set state = 'paused'`;
  const last = await world.logged({ sessionId: 'chat', createdAtMs: at(2) });
  await world.ingest();
  t.same(await places(world), [`chat ${last} paused`]);
});

t.test('a session is taken from the first request on that passes the filters', async (t) => {
  const world = await setUp(t);
  const { online, logged, ingest } = world;
  await online({ scope: 'session', filter: SUCCEEDED, propertyFilters: [{ key: 'Plan', value: 'pro' }] });
  const pro: { properties: [string, string][] } = { properties: [['plan', 'pro']] };
  await logged({ sessionId: 'chat', createdAtMs: at(1) });
  await logged({ sessionId: 'chat', createdAtMs: at(2), status: 500, ...pro });
  await ingest();
  t.same(await places(world), [], 'each passes one of the two');
  await logged({ sessionId: 'chat', createdAtMs: at(3), ...pro });
  const last = await logged({ sessionId: 'chat', createdAtMs: at(4), status: 500 });
  await ingest();
  t.same(await places(world), [`chat ${last} pending`], 'at its newest request, which passes neither');
  const later = await logged({ sessionId: 'chat', createdAtMs: at(5) });
  await ingest();
  t.same(await places(world), [`chat ${later} pending`]);
});

t.test(
  'sessions are sampled by their ids, and calls of the playground or of evaluators begin none',
  async (t) => {
    const world = await setUp(t);
    const { online, logged, ingest } = world;
    await online({ scope: 'session', evaluatorId: FIXED_EVALUATOR, sampleRate: 30 });
    const ids = Array.from({ length: 60 }, (_, index) => `session-${String(index).padStart(2, '0')}`);
    for (const sessionId of ids) await logged({ sessionId });
    for (const source of ['playground', 'evaluator'] as const) await logged({ sessionId: 'tried', source });
    await ingest();
    const taken = (await scheduled(world)).map((row) => row.session_id).sort();
    t.same(
      taken,
      ids.filter((id) => isSampled(FIXED_EVALUATOR, id, 30)),
    );
  },
);

t.test("evaluators of requests and of sessions do not get in each other's way", async (t) => {
  const world = await setUp(t);
  const ofRequests = await world.online({});
  const ofSessions = await world.online({ scope: 'session' });
  const ids = [await world.logged({ sessionId: 'chat', createdAtMs: at(1) })];
  ids.push(await world.logged({ sessionId: 'chat', createdAtMs: at(2) }));
  await world.ingest();
  t.same(await world.scheduledFor(ofRequests), [...ids].sort());
  t.same(await world.scheduledFor(ofSessions), [ids[1]]);
});

t.test('a request that was a dead letter schedules its session when it is stored', async (t) => {
  const world = await setUp(t);
  const { online, logged, ingest, sql } = world;
  await online({ scope: 'session', idleSeconds: 600 });
  await sql`alter table assay.request_bodies add constraint refused check (false) not valid`;
  t.teardown(() => sql`alter table assay.request_bodies drop constraint if exists refused`);
  const id = await logged({ sessionId: 'chat', createdAtMs: at(1) });
  await ingest();
  t.same(await places(world), []);
  await sql`alter table assay.request_bodies drop constraint refused`;
  t.same(await retryAllDeadLetters(sql), { stored: 1, refused: 0 });
  t.same(await places(world), [`chat ${id} pending`]);
});
