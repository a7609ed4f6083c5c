import { pino } from 'pino';
import t from 'tap';
import { reportProcess, selectLiveProcesses } from '#platform/processes/mod.ts';
import { createWorld, databaseFor, silentLog as log } from '../../../support/world.ts';

const database = await databaseFor(t);
const { sql } = database;
t.afterEach(() => sql`delete from assay.processes`);

const facts = { sandbox: 'chroot', why: null };
const read = () => ({ held: 3 });
const live = async (isDone: (count: number) => boolean) => {
  for (;;) {
    const rows = await selectLiveProcesses(sql);
    if (isDone(rows.length)) return rows;
  }
};

t.test(
  'a process is listed from its first report until it stops, with its role, version and state',
  async (t) => {
    const report = await reportProcess({ sql, log, role: 'evaluators', facts, read });
    const [row] = await live((count) => count === 1);
    t.match(row, { role: 'evaluators', version: /^\d+\.\d+\.\d+/, state: { held: 3 } });
    t.ok(row!.at.getTime() >= row!.startedAt.getTime() - 1_000);
    await report.stop();
    t.same(await selectLiveProcesses(sql), []);
  },
);

t.test(
  'a killed process is not listed after 35 seconds, and its row goes with the next report',
  async (t) => {
    const killed = await reportProcess({ sql, log, role: 'evaluators', facts, read });
    await live((count) => count === 1);
    await sql`update assay.processes set at = now() - interval '36 seconds'`;
    t.same(await selectLiveProcesses(sql), []);
    await sql`update assay.processes set at = now() - interval '61 seconds'`;
    const alive = await reportProcess({ sql, log, role: 'evaluators', facts, read });
    await live((count) => count === 1);
    t.equal((await sql`select from assay.processes`).length, 1);
    await alive.stop();
    await killed.stop();
  },
);

t.test('each report has the state of its moment, and a lost row comes back', async (t) => {
  let held = 0;
  const report = await reportProcess({
    sql,
    log,
    role: 'evaluators',
    facts,
    read: () => {
      held += 1;
      return { held };
    },
    everyMs: 10,
  });
  t.teardown(() => report.stop());
  await live((count) => count === 1);
  await sql`delete from assay.processes`;
  const [row] = await live((count) => count === 1);
  t.ok((row!.state as { held: number }).held > 1);
});

t.test(
  'a process without Postgres goes on, stops without delay, and reports again once Postgres is back',
  async (t) => {
    const world = await createWorld(t, database);
    const proxy = await world.proxy();
    const pool = world.connect({ url: proxy.url });
    t.teardown(() => proxy.thaw());
    const report = await reportProcess({ sql: pool, log, role: 'evaluators', facts, read, everyMs: 20 });
    await live((count) => count === 1);
    await proxy.cut();
    await sql`delete from assay.processes`;
    await proxy.restore();
    await live((count) => count === 1);
    proxy.freeze();
    const start = performance.now();
    await report.stop();
    t.ok(performance.now() - start < 10_000, 'a frozen Postgres keeps it a second, not for ever');
  },
);

t.test('reports that fail are logged once, until one succeeds again', async (t) => {
  const lines: { msg: string; error: string }[] = [];
  const logged = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
  let failures = 0;
  let isBroken = true;
  const failing = () => {
    if (!isBroken) return read();
    failures += 1;
    throw new Error('broken');
  };
  const report = await reportProcess({
    sql,
    log: logged,
    role: 'evaluators',
    facts,
    read: failing,
    everyMs: 5,
  });
  t.teardown(() => report.stop());
  while (failures < 3) await sql`select 1`;
  t.match(lines, [{ msg: 'cannot report this process', error: /broken/ }]);
  t.equal(lines.length, 1);
  isBroken = false;
  await live((count) => count === 1);
  isBroken = true;
  while (lines.length < 2) await sql`select 1`;
});

t.test('the host and the process id of a process are not for the role of the API', async (t) => {
  await t.rejects(
    sql.begin(async (tx) => {
      await tx`set local role assay_api`;
      await tx`select host, pid from assay.processes`;
    }),
    /permission denied/,
  );
});
