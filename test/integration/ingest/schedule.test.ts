/** A record and its evaluations are stored together, and once: through ingest as it runs, into a real PostgreSQL. */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import t from 'tap';
import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import { systemClock } from '#platform/process/clock.ts';
import { Drain } from '../../../ingest/drain.ts';
import { retryAllDeadLetters } from '../../../ingest/retry-dead-letter.ts';
import { TEST_ORGANIZATION } from '../../support/log-entries.ts';
import { SUCCEEDED, scheduleWorld } from './schedule-world.ts';

const setUp = await scheduleWorld(t);

/** What is refused on its way into the store. */
const REFUSED: Partial<LogEntryHead> = { status: 9_999_999_999 };

t.test('a record is stored together with a pending evaluation', async (t) => {
  const { online, logged, ingest, sql } = await setUp(t);
  const evaluator = await online();
  const before = Date.now();
  const id = await logged({ createdAtMs: before - 1_234 });
  await ingest();
  const rows = await sql`select * from assay.evaluations`;
  t.match(rows, [
    {
      organization_id: TEST_ORGANIZATION,
      evaluator_id: evaluator,
      version: 1,
      request_id: id,
      created_at: new Date(before - 1_234),
      probe: '',
      run_id: null,
      lane: 'remote',
      priority: 0,
      state: 'pending',
      attempts: 0,
      score: null,
      finished_at: null,
    },
  ]);
  const { due_at: due, scheduled_at: scheduled } = rows[0] as { due_at: Date; scheduled_at: Date };
  t.ok(due.getTime() <= Date.now(), 'it is due at once');
  t.ok(scheduled.getTime() >= before - 1);
});

t.test('a call of the playground is stored, and not scored by online evaluators', async (t) => {
  const { online, logged, ingest, sql } = await setUp(t);
  await online();
  const id = await logged({ source: 'playground' });
  const other = await logged();
  await ingest();
  t.same(await sql`select source from assay.requests where request_id = ${id}`, [{ source: 'playground' }]);
  t.same(await sql`select request_id from assay.evaluations`, [{ request_id: other }]);
});

t.test('a record and its evaluations are stored in one transaction', async (t) => {
  const { online, logged, ingest, sql } = await setUp(t);
  for (const table of ['requests', 'evaluations']) {
    const written = sql(`assay.${table}`);
    await sql`alter table ${written} add column written_in xid8 default pg_current_xact_id()`;
    t.teardown(() => sql`alter table ${written} drop column written_in`);
  }
  await online({ filter: SUCCEEDED });
  await online({ scoringType: 'PYTHON' });
  await logged();
  await ingest();
  const rows = await sql`
    select e.written_in = r.written_in as together
      from assay.evaluations e join assay.requests r using (organization_id, created_at, request_id)`;
  t.same([...rows], [{ together: true }, { together: true }]);
});

t.test('a record whose evaluations cannot be stored is not stored either', async (t) => {
  const { online, logged, ingest, stored, letters, evaluations, sql } = await setUp(t);
  await online({ propertyFilters: [{ key: 'judged', value: 'yes' }] });
  await sql`alter table assay.evaluations add constraint full_disk check (state <> 'pending')`;
  t.teardown(() => sql`alter table assay.evaluations drop constraint full_disk`);
  await logged({ properties: [['Judged', 'yes']] });
  const plain = await logged();
  await ingest();
  t.same(await stored(), [plain], 'what nobody scores is stored');
  t.equal(await letters(), 1, 'the other is kept aside');
  t.same([...(await evaluations())], []);
});

t.test('a batch that is halved for a refused entry schedules the others once', async (t) => {
  const { online, logged, ingest, scheduledFor, letters } = await setUp(t);
  const evaluator = await online();
  const good: string[] = [];
  for (let index = 0; index < 30; index += 1) {
    if (index === 4 || index === 17) await logged(REFUSED);
    else good.push(await logged());
  }
  await ingest();
  t.equal(await letters(), 2);
  t.same(await scheduledFor(evaluator), good.sort());
});

t.test('the lane of an evaluation follows the type of its evaluator', async (t) => {
  const { online, logged, ingest, evaluations } = await setUp(t);
  const lanes = new Map([
    [await online({ scoringType: 'LLM-BOOLEAN' }), 'remote'],
    [await online({ scoringType: 'PYTHON' }), 'python'],
    [await online({ scoringType: 'EXTERNAL', adapter: 'http' }), 'remote'],
    [await online({ scoringType: 'EXTERNAL', adapter: 'autoevals' }), 'python'],
  ]);
  await logged();
  await ingest();
  t.same(new Map((await evaluations()).map((row) => [row.evaluator_id, row.lane])), lanes);
});

t.test('a record that is delivered again schedules and changes nothing', async (t) => {
  const { online, logged, ingest, redeliver, evaluations, sql } = await setUp(t);
  await online({ probeRate: 100 });
  await online({ scoringType: 'PYTHON', filter: 'all' });
  for (let index = 0; index < 5; index += 1) await logged();
  await ingest();
  await sql`update assay.evaluations set state = 'completed', attempts = 1, score = 1, finished_at = now()`;
  const before = await evaluations();
  t.equal(before.length, 15, 'two of each request, and a probe of each');
  await redeliver();
  await redeliver();
  t.same([...(await evaluations())], [...before]);
});

t.test('a record that is delivered again after its evaluator was changed is not scored again', async (t) => {
  const { online, addVersion, logged, ingest, redeliver, evaluations, sql } = await setUp(t);
  const evaluator = await online();
  const old = await logged();
  await ingest();
  await addVersion(evaluator, 2);
  await sql`update assay.online_evaluators set probe_rate = 100`;
  const fresh = await logged();
  await redeliver();
  const seen = (await evaluations()).map(({ request_id, version, probe }) => [
    request_id,
    version,
    probe === '',
  ]);
  t.same(
    seen.sort(),
    [
      [old, 1, true],
      [fresh, 2, true],
      [fresh, 2, false],
    ].sort(),
  );
});

t.test('a change of what is sampled holds for later records, and leaves what is scheduled', async (t) => {
  const { online, logged, ingest, redeliver, evaluations, scheduledFor, sql } = await setUp(t);
  const evaluator = await online({ probeRate: 100 });
  const before = await logged();
  await ingest();
  const scheduled = await evaluations();
  t.equal(scheduled.length, 2, 'an evaluation and a probe');
  await sql`update assay.online_evaluators set sample_rate = 0, probe_rate = 0`;
  await logged();
  await ingest();
  await redeliver();
  t.same([...(await evaluations())], [...scheduled], 'neither taken back nor made again');
  await sql`update assay.online_evaluators set sample_rate = 100`;
  const after = await logged();
  await ingest();
  t.same(await scheduledFor(evaluator), [before, after].sort());
});

t.test('two processes that read the same outbox schedule each request once', async (t) => {
  const { online, logged, drain, scheduledFor } = await setUp(t);
  const evaluator = await online({ filter: 'all' });
  const ids: string[] = [];
  for (let index = 0; index < 100; index += 1) ids.push(await logged());
  const readers = [drain(), drain(), drain()];
  for (const reader of readers) reader.stop();
  await Promise.all(readers.map((reader) => reader.run()));
  t.same(await scheduledFor(evaluator), ids.sort());
});

t.test('workers are notified of new evaluations once for a batch, and of nothing else', async (t) => {
  const { online, logged, ingest, sql } = await setUp(t);
  const told: string[] = [];
  const marked = Promise.withResolvers<void>();
  const listening = await sql.listen(EVALUATIONS_CHANNEL, (payload) => {
    told.push(payload);
    if (payload === 'mark') marked.resolve();
  });
  t.teardown(() => listening.unlisten());
  await online({ propertyFilters: [{ key: 'judged', value: 'yes' }] });
  await logged();
  await ingest();
  await sql.notify(EVALUATIONS_CHANNEL, 'nothing yet');
  await logged({ properties: [['judged', 'yes']] });
  await logged({ properties: [['judged', 'yes']] });
  await ingest();
  await sql.notify(EVALUATIONS_CHANNEL, 'mark');
  await marked.promise;
  t.same(told, ['nothing yet', '', 'mark']);
});

/** Ingest whose log can be read. */
function withLog({ root, sql }: Awaited<ReturnType<typeof setUp>>) {
  const lines: { level: number; msg: string; evaluatorId?: string; error?: unknown }[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(chunk));
      done();
    },
  });
  const drain = new Drain({
    root,
    sql,
    log: pino(sink),
    clock: systemClock,
    retentionDays: null,
    onStored: () => {},
  });
  drain.stop();
  return { lines, ingest: () => drain.run() };
}

t.test(
  'a filter that Postgres refuses pauses its evaluator, and costs no record and no evaluation of other evaluators',
  async (t) => {
    const world = await setUp(t);
    const { online, logged, stored, scheduledFor, letters, pauseOf, sql } = world;
    const before = await online({ filter: SUCCEEDED });
    const broken = await online({ filter: { scores: { quality: { gte: 0.5 } } } });
    const after = await online({ filter: SUCCEEDED });
    await sql`alter table assay.request_scores rename to elsewhere`;
    t.teardown(() => sql`alter table assay.elsewhere rename to request_scores`);
    const ids = [await logged(), await logged()].sort();
    const { lines, ingest } = withLog(world);
    await ingest();
    t.same(await stored(), ids);
    t.equal(await letters(), 0);
    t.same(await scheduledFor(before), ids);
    t.same(await scheduledFor(after), ids);
    t.same(await scheduledFor(broken), []);
    const told = lines.filter(({ evaluatorId }) => evaluatorId === broken);
    t.match(told, [
      {
        level: 40,
        msg: 'an evaluator is paused, because the filter of its online evaluator failed or was too slow',
        error: /request_scores/,
      },
    ]);
    t.equal(told.length, lines.length, 'and nothing else happened');
    t.same(await pauseOf(broken), {
      reason: 'filter',
      message: 'Postgres could not apply the filter of the online evaluator (SQLSTATE 42P01)',
    });
    t.same(await Promise.all([before, after].map(pauseOf)), [null, null]);
  },
);

t.test(
  'a filter of another version pauses its evaluator, and costs no record and no evaluation of other evaluators',
  async (t) => {
    const world = await setUp(t);
    const { online, logged, stored, scheduledFor, letters, pauseOf } = world;
    const broken = await online({ filter: { request: { colour: { equals: 'red' } } } });
    const well = await online({ filter: 'all' });
    const ids = [await logged(), await logged()].sort();
    const { lines, ingest } = withLog(world);
    await ingest();
    t.same(await stored(), ids);
    t.equal(await letters(), 0);
    t.same(await scheduledFor(well), ids);
    t.same(await scheduledFor(broken), []);
    t.match(lines, [{ level: 40, evaluatorId: broken, error: /colour/ }]);
    t.match(await pauseOf(broken), { reason: 'filter', message: /colour/ });
  },
);

t.test('a dead letter that a retry stores is scored like any record', async (t) => {
  const { online, logged, ingest, sql, letters, scheduledFor } = await setUp(t);
  const evaluator = await online();
  await sql.unsafe(`
    create function assay.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'not today' using errcode = '22000'; end $$;
    create trigger refuse before insert on assay.request_bodies execute function assay.refuse()`);
  t.teardown(() => sql`drop function assay.refuse() cascade`);
  const id = await logged();
  await ingest();
  t.equal(await letters(), 1);
  t.same(await scheduledFor(evaluator), []);
  await sql`drop trigger refuse on assay.request_bodies`;
  t.same(await retryAllDeadLetters(sql), { stored: 1, refused: 0 });
  t.same(await scheduledFor(evaluator), [id]);
});
