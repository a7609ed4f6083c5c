/** Filters of online evaluators that are slow: what they cost their evaluators, others of their organization, and everyone else. */
import t from 'tap';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import { systemClock } from '#platform/process/clock.ts';
import { ensurePartitions } from '../../../ingest/partitions.ts';
import { pauseEvaluator } from '../../../ingest/pause-evaluator.ts';
import { BatchStore } from '../../../ingest/store-batch.ts';
import { logEntry, TEST_ORGANIZATION } from '../../support/log-entries.ts';
import { silentLog } from '../../support/world.ts';
import { OTHER_ORGANIZATION, SUCCEEDED, scheduleWorld } from './schedule-world.ts';

const setUp = await scheduleWorld(t);

type World = Awaited<ReturnType<typeof setUp>>;
type Tap = Pick<typeof t, 'teardown' | 'match'>;

/** Far more than `SUCCEEDED` takes for a record. */
const BUDGET_MS = 500;
const TOO_SLOW = {
  reason: 'filter',
  message: `The filter of the online evaluator took more than ${BUDGET_MS} ms for 1 requests`,
};
/** Waits for as long as it may while scores are locked. */
const OF_SCORES = { scores: { quality: { gte: 0.5 } } };

/** Makes every filter of scores slow until the returned function is called. */
async function lockScores(t: Tap, world: World): Promise<() => Promise<void>> {
  // A new partition could not be attached meanwhile.
  await ensurePartitions(world.sql, [new Date()]);
  const sql = world.connect({ max: 1 });
  const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = sql.begin(async (tx) => {
    await tx`lock table assay.request_scores in access exclusive mode`;
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  const release = async () => {
    held.resolve();
    await holding;
  };
  t.teardown(release);
  return release;
}

/** Returns an ingest that stores one batch a call, and returns the ids of its records. */
function ingestOf(t: Tap, { sql }: World) {
  const late: number[] = [];
  let aheadMs = 0;
  const store = new BatchStore({
    sql,
    log: silentLog,
    clock: { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs },
    retentionDays: null,
    filterBudgetMs: BUDGET_MS,
    onLateFilters: (count) => late.push(count),
  });
  return {
    /** The numbers of filters that were left out, of each batch that left some out. */
    late,
    /** Stores a batch, a minute after the one before. */
    async store(...heads: Partial<LogEntryHead>[]) {
      aheadMs += 60_000;
      const entries = heads.map((head) => ({ ...logEntry(head), origin: 'test' }));
      t.match(await store.store({ entries }), { stored: entries.length, deadLetters: 0 });
      return entries.map(({ id }) => id);
    },
  };
}

t.test(
  'a filter that takes longer than its organization may, for a while, pauses its evaluator, and costs no record and no other organization',
  async (t) => {
    const world = await setUp(t);
    const { online, scheduledFor, pauseOf, stored, sql } = world;
    const slow = await online({ filter: OF_SCORES });
    const theirs = await online({ organizationId: OTHER_ORGANIZATION, filter: SUCCEEDED });
    const ingest = ingestOf(t, world);
    const release = await lockScores(t, world);
    const first = await ingest.store({}, { organizationId: OTHER_ORGANIZATION });
    t.equal(await pauseOf(slow), null, 'Postgres may have stood still');
    const second = await ingest.store({}, { organizationId: OTHER_ORGANIZATION });
    await release();
    t.same(await stored(), [...first, ...second].sort());
    t.same(await scheduledFor(slow), []);
    t.same(await scheduledFor(theirs), [first[1], second[1]].sort());
    t.same(await pauseOf(slow), TOO_SLOW);
    t.equal(await pauseOf(theirs), null);
    const events = await sql`
      select organization_id, details from assay.changes
       where kind = 'event' and details -> 0 ->> 'evaluator_id' = ${slow}`;
    t.match(events, [
      {
        organization_id: TEST_ORGANIZATION,
        details: [{ type: 'evaluator.paused', name: /^judge/, ...TOO_SLOW }],
      },
    ]);
    t.same(ingest.late, [1]);
  },
);

t.test('an evaluator whose filter is quick between two times that it is slow is not paused', async (t) => {
  const world = await setUp(t);
  const { online, scheduledFor, pauseOf } = world;
  const slow = await online({ filter: { scores: { quality: { equals: null } } } });
  const ingest = ingestOf(t, world);
  for (let round = 0; round < 2; round += 1) {
    const release = await lockScores(t, world);
    await ingest.store({});
    await release();
    const [id] = await ingest.store({});
    t.ok((await scheduledFor(slow)).includes(id!));
  }
  t.equal(await pauseOf(slow), null);
});

t.test(
  'evaluators behind a slow filter get nothing of the batch, are not paused, and come first in the next one',
  async (t) => {
    const world = await setUp(t);
    const { online, scheduledFor, pauseOf } = world;
    const evaluators = [
      await online({ filter: OF_SCORES }),
      await online({ filter: OF_SCORES }),
      await online({ filter: SUCCEEDED }),
    ];
    const quick = evaluators[2]!;
    const unfiltered = await online();
    const paused = async () =>
      (await Promise.all(evaluators.map(pauseOf))).map((pause) => pause?.reason ?? null);
    const ingest = ingestOf(t, world);
    await lockScores(t, world);
    const before = [...(await ingest.store({})), ...(await ingest.store({}))];
    t.same(await paused(), ['filter', null, null], 'only the one that had all of the time');
    before.push(...(await ingest.store({})), ...(await ingest.store({})));
    t.same(await paused(), ['filter', 'filter', null]);
    t.same(await scheduledFor(quick), []);
    t.same(ingest.late, [3, 2, 2, 1]);
    const [last] = await ingest.store({});
    t.same(await scheduledFor(quick), [last]);
    t.same(await scheduledFor(unfiltered), [...before, last].sort(), 'no filter, no wait');
    t.same(ingest.late, [3, 2, 2, 1]);
  },
);

t.test('a filter that others left too little time is judged when it comes first', async (t) => {
  const world = await setUp(t);
  const { online, scheduledFor, pauseOf } = world;
  const quick = await online({ filter: SUCCEEDED });
  const slow = await online({ filter: OF_SCORES });
  const ingest = ingestOf(t, world);
  await lockScores(t, world);
  const [first] = await ingest.store({});
  t.same(await scheduledFor(quick), [first]);
  t.equal(await pauseOf(slow), null);
  await ingest.store({});
  await ingest.store({});
  t.same(await pauseOf(slow), TOO_SLOW);
  const [last] = await ingest.store({});
  t.same(await scheduledFor(quick), [first, last].sort());
  t.same(ingest.late, [1, 2, 1]);
});

t.test('an evaluator that waits for its turn keeps it through batches without records for it', async (t) => {
  const world = await setUp(t);
  const { online, scheduledFor, pauseOf } = world;
  const pro = { propertyFilters: [{ key: 'plan', value: 'pro' }] };
  await online({ filter: OF_SCORES });
  const slow = await online({ filter: OF_SCORES });
  const waiting = await online({ filter: SUCCEEDED, ...pro });
  const ingest = ingestOf(t, world);
  await lockScores(t, world);
  const twice = async () => {
    await ingest.store({ properties: [['plan', 'pro']] });
    await ingest.store({ properties: [['plan', 'pro']] });
  };
  await twice();
  await world.sql`update assay.online_evaluators set property_filters = ${world.sql.json(pro.propertyFilters)}
                   where evaluator_id = ${slow}`;
  await ingest.store({});
  t.equal(await pauseOf(slow), null, 'it had no record');
  await twice();
  t.same(await pauseOf(slow), TOO_SLOW);
  const [last] = await ingest.store({ properties: [['plan', 'pro']] });
  t.same(await scheduledFor(waiting), [last]);
});

t.test('evaluators of requests and of sessions share the time of their organization', async (t) => {
  const world = await setUp(t);
  const { online, scheduledFor, pauseOf } = world;
  const slow = await online({ filter: OF_SCORES });
  const ofSessions = await online({ scope: 'session', filter: SUCCEEDED });
  const ingest = ingestOf(t, world);
  await lockScores(t, world);
  await ingest.store({ sessionId: 'chat' });
  await ingest.store({ sessionId: 'chat' });
  t.same(await pauseOf(slow), TOO_SLOW);
  t.same(await scheduledFor(ofSessions), []);
  t.same(ingest.late, [2, 1]);
  const [last] = await ingest.store({ sessionId: 'chat' });
  t.same(await scheduledFor(ofSessions), [last]);
});

t.test('a slow filter of an evaluator that is paused for another reason is not applied again', async (t) => {
  const world = await setUp(t);
  const paused = await world.online({ paused: true, filter: OF_SCORES });
  const ingest = ingestOf(t, world);
  await lockScores(t, world);
  await ingest.store({});
  await ingest.store({});
  t.same(await world.pauseOf(paused), TOO_SLOW);
});

t.test(
  'an evaluator that is paused because of its filter gets nothing by filters until it is resumed',
  async (t) => {
    const world = await setUp(t);
    const { online, setOnline, scheduledFor, sql } = world;
    const filtered = await online({ filter: SUCCEEDED });
    const both = await online({ filter: SUCCEEDED });
    await setOnline(both);
    const ofSessions = await online({ scope: 'session', filter: SUCCEEDED });
    const ingest = ingestOf(t, world);
    const [begun] = await ingest.store({ sessionId: 'old' });
    t.same(await scheduledFor(ofSessions), [begun]);
    await sql`update assay.evaluators set paused_reason = 'filter'`;
    const [moved, fresh] = await ingest.store({ sessionId: 'old' }, { sessionId: 'new' });
    t.same(await scheduledFor(filtered), [begun]);
    t.same(await scheduledFor(both), [begun, moved, fresh].sort(), 'it has an attachment without a filter');
    t.same(await scheduledFor(ofSessions), [moved], 'a session that was taken before goes on');
    await sql`update assay.evaluators set paused_reason = null, resumes = resumes + 1`;
    const [last] = await ingest.store({ sessionId: 'new' });
    t.same(await scheduledFor(filtered), [begun, last].sort());
    t.same(await scheduledFor(ofSessions), [moved, last].sort());
  },
);

t.test('an evaluator that was resumed since its filter failed is not paused again', async (t) => {
  const { online, pauseOf, sql } = await setUp(t);
  const evaluatorId = await online({ filter: SUCCEEDED });
  const failed = {
    evaluator: { evaluatorId, resumes: 0 },
    message: 'Too slow',
    error: null,
  } as Parameters<typeof pauseEvaluator>[1];
  await sql`update assay.evaluators set resumes = 1`;
  t.equal(await pauseEvaluator(sql, failed), false);
  t.equal(await pauseOf(evaluatorId), null);
  await sql`update assay.evaluators set resumes = 0`;
  t.equal(await pauseEvaluator(sql, failed), true);
  t.equal(await pauseEvaluator(sql, failed), false, 'it is told once');
});

t.test('records are stored although an evaluator with a slow filter cannot be paused', async (t) => {
  const world = await setUp(t);
  const { online, pauseOf, stored, sql } = world;
  const slow = await online({ filter: OF_SCORES });
  const ingest = ingestOf(t, world);
  await lockScores(t, world);
  await sql`alter table assay.evaluators add constraint never_paused check (paused_reason is null)`;
  const twice = async () => [...(await ingest.store({})), ...(await ingest.store({}))];
  const before = await twice();
  t.equal(await pauseOf(slow), null);
  await sql`alter table assay.evaluators drop constraint never_paused`;
  const after = await twice();
  t.same(await pauseOf(slow), TOO_SLOW);
  t.same(await stored(), [...before, ...after].sort());
});
