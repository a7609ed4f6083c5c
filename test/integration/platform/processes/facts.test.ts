/** The facts that processes report for other roles, with the first report and as long as they are alive. */
import t from 'tap';
import { inOrganization } from '#platform/postgres/mod.ts';
import { readFacts, reportProcess } from '#platform/processes/mod.ts';
import { createWorld, databaseFor, silentLog as log } from '../../../support/world.ts';

const database = await databaseFor(t);
const { sql } = database;
t.afterEach(() => sql`delete from assay.processes`);

const facts = { sandbox: 'chroot', why: null };
const read = () => ({ held: 0 });
/** Gives the reports time, by asking Postgres something. */
const turn = () => sql`select 1`;

t.test('facts are read by role, equal ones once, until their processes stop', async (t) => {
  const other = { sandbox: 'none', why: 'it needs Linux' };
  const ofGateway = { providers: {}, models: [], groups: [] };
  const outbox = { records: 0, bytes: 0, oldest_ms: 0, fill: 0, is_refusing: false };
  const reports = [
    await reportProcess({ sql, log, role: 'evaluators', facts, read }),
    await reportProcess({ sql, log, role: 'evaluators', facts, read }),
    await reportProcess({ sql, log, role: 'evaluators', facts: other, read }),
    await reportProcess({ sql, log, role: 'api', facts: null, read: () => ({ outbox }) }),
    await reportProcess({
      sql,
      log,
      role: 'gateway',
      facts: ofGateway,
      read: () => ({ outbox, breakers: [], is_limiting_alone: false }),
    }),
  ];
  const found = await readFacts(sql, 'evaluators');
  t.strictSame(
    found.sort((a, b) => (a.sandbox < b.sandbox ? -1 : 1)),
    [facts, other],
    'a role has started when its facts can be read',
  );
  t.strictSame(await readFacts(sql, 'gateway'), [ofGateway]);
  for (const one of reports) await one.stop();
  t.strictSame(await readFacts(sql, 'evaluators'), []);
});

t.test('facts are not read once their process has been silent for 35 seconds', async (t) => {
  const report = await reportProcess({ sql, log, role: 'evaluators', facts, read });
  t.teardown(() => report.stop());
  await sql`update assay.processes set at = now() - interval '34 seconds'`;
  t.strictSame(await readFacts(sql, 'evaluators'), [facts]);
  await sql`update assay.processes set at = now() - interval '36 seconds'`;
  t.strictSame(await readFacts(sql, 'evaluators'), []);
});

t.test('later reports leave the facts alone, and a lost row comes back with them', async (t) => {
  let reported = 0;
  const count = () => {
    reported += 1;
    return { held: reported };
  };
  const report = await reportProcess({ sql, log, role: 'evaluators', facts, read: count, everyMs: 10 });
  t.teardown(() => report.stop());
  await sql`update assay.processes set facts = '{"sandbox": "marked"}'`;
  const before = reported;
  while (reported < before + 3) await turn();
  t.match(await readFacts(sql, 'evaluators'), [{ sandbox: 'marked' }]);
  await sql`delete from assay.processes`;
  while ((await readFacts(sql, 'evaluators')).length === 0);
  t.strictSame(await readFacts(sql, 'evaluators'), [facts]);
});

t.test('a process whose Postgres does not answer starts within seconds, and reports later', async (t) => {
  const world = await createWorld(t, database);
  const proxy = await world.proxy();
  const pool = world.connect({ url: proxy.url });
  t.teardown(() => proxy.thaw());
  await pool`select 1`;
  proxy.freeze();
  const startMs = performance.now();
  const report = await reportProcess({ sql: pool, log, role: 'evaluators', facts, read, everyMs: 20 });
  t.teardown(() => report.stop());
  t.ok(performance.now() - startMs < 10_000, 'it waits some seconds for its first report, not for ever');
  t.strictSame(await readFacts(sql, 'evaluators'), []);
  proxy.thaw();
  while ((await readFacts(sql, 'evaluators')).length === 0);
});

// The statements of the version that had the table of announcements.
t.test('an API of the version before reads the facts of processes as announcements', async (t) => {
  const report = await reportProcess({ sql, log, role: 'evaluators', facts, read });
  t.teardown(() => report.stop());
  const rows = await inOrganization(sql, '11111111-1111-4111-8111-111111111111', async (tx) => {
    await tx`set local role assay_api`;
    return await tx`
      select distinct facts from assay.announcements
      where role = ${'evaluators'} and seen_at > now() - ${90_000}::float8 * interval '1 ms'`;
  });
  t.strictSame([...rows], [{ facts }]);
});

t.test('an announcement of a process of the version before is refused, and touches no report', async (t) => {
  const report = await reportProcess({ sql, log, role: 'evaluators', facts, read });
  t.teardown(() => report.stop());
  const processId = '22222222-2222-4222-8222-222222222222';
  await sql`delete from assay.announcements where seen_at < now() - ${'1 day'}::interval`;
  await t.rejects(
    sql`
      insert into assay.announcements (process_id, role, facts, seen_at)
      values (${processId}, 'evaluators', ${'{}'}::text::jsonb, now())
      on conflict (process_id) do update set seen_at = excluded.seen_at`,
    { code: '23502' },
  );
  await sql`delete from assay.announcements where process_id = ${processId}`;
  t.strictSame(await readFacts(sql, 'evaluators'), [facts]);
});
