/** The feed is bounded, a sink that stays away is left behind and told so, and a restored feed loses nothing. */
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { noteChange, readSinkLags } from '#platform/changes/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { registerSink } from '../../../../sinks/feed/cursor.ts';
import { keepFeedOnce } from '../../../../sinks/feed/keeper.ts';
import type { Sink } from '../../../../sinks/feed/mod.ts';
import { applyNext } from '../../../../sinks/feed/run-sink.ts';
import { waitFor } from '../../../support/assay.ts';
import { type CountingSink, countingSink, feedMetrics } from '../../../support/counting-sink.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { databaseFor, silentLog } from '../../../support/world.ts';

const organizationId = randomUUID();
const FULL = { changes: 100, keys: 100 };
const DAY_MS = 86_400_000;

/** A feed with two sinks that have come up. */
async function feedWith(t: Test, { names = ['one', 'two'] } = {}) {
  const { sql } = await databaseFor(t);
  const metrics = feedMetrics();
  const warnings: string[] = [];
  const log = Object.assign(Object.create(silentLog), {
    warn: (facts: object | string, text?: string) => {
      warnings.push(typeof facts === 'string' ? facts : `${JSON.stringify(facts)} ${text}`);
    },
  });
  const context = { sql, log, feedMetrics: metrics };
  const apply = (sink: Sink) => applyNext({ ...context, sink }, FULL);
  const sinks: CountingSink[] = [];
  for (const name of names) {
    const sink = await countingSink(sql, name);
    await registerSink(sql, name);
    await apply(sink);
    sinks.push(sink);
  }
  const note = (id: string) => (tx: TransactionSql) =>
    noteChange(tx, { organizationId, kind: 'record', keys: [{ createdAt: new Date(0), requestId: id }] });
  const idsOf = async (sink: CountingSink) => (await sink.seen()).map(({ requestId }) => requestId);
  return {
    sql,
    sinks,
    warnings,
    metrics,
    note,
    add: (id: string) => sql.begin(note(id)),
    /** Moves the changes that are there into the past. */
    age: (days: number) => sql`update assay.changes set at = at - ${days} * interval '1 day'`,
    apply,
    keep: (more: { lateMs?: number } = {}) => keepFeedOnce({ ...context, ...more }),
    idsOf,
    applyUntil: (sink: CountingSink, id: string) =>
      waitFor(`the change of ${id} in ${sink.name}`, async () => {
        await apply(sink);
        return (await idsOf(sink)).includes(id);
      }),
    left: async () => {
      const rows = await sql<{ id: string }[]>`
        select unnest(request_ids) as id from assay.changes order by xid, seq`;
      return rows.map(({ id }) => id);
    },
  };
}

t.test(
  'changes that every sink has applied are dropped, and those that one of them still needs are not',
  async (t) => {
    const { sinks, add, applyUntil, keep, left } = await feedWith(t);
    await add('a');
    await applyUntil(sinks[0]!, 'a');
    await applyUntil(sinks[1]!, 'a');
    await add('b');
    await applyUntil(sinks[0]!, 'b');
    await keep();
    t.same(await left(), ['b'], 'the second sink has not applied it');
    await applyUntil(sinks[1]!, 'b');
    await keep();
    t.same(await left(), []);
  },
);

t.test('a sink that is away for longer than the feed is kept comes up by a scan, and says so', async (t) => {
  const { sql, sinks, add, age, apply, applyUntil, keep, left, idsOf, warnings, metrics } = await feedWith(t);
  const [present, away] = sinks as [CountingSink, CountingSink];
  await add('first');
  await applyUntil(away, 'first');
  const lastMs = Date.now();
  await add('old');
  await applyUntil(present, 'old');
  await age(6);
  await keep();
  t.same(await left(), ['old'], 'six days are waited for');
  await age(2);
  await add('new');
  await applyUntil(present, 'new');
  await keep();
  t.same(await left(), ['new']);
  t.match(warnings, [/"sink":"two".*dropped changes that a sink had not applied/]);
  const [lag] = (await readSinkLags(sql)).filter(({ name }) => name === 'two');
  t.match(lag, { state: 'behind', resumedAt: Date });
  // What is committed before the scan, is the scan's.
  await waitFor('the scan', async () => {
    await apply(away);
    return away.resumed.length === 2;
  });
  const sinceMs = away.resumed[1]!;
  t.ok(
    sinceMs < lastMs && sinceMs > lastMs - 3_600_000,
    'since a while before the last change that it has applied',
  );
  t.match(warnings.at(-1), /"sink":"two".*came up by a scan/);
  t.same(
    await metrics.resumes
      .get()
      .then(({ values }) => values.find(({ labels }) => labels.sink === 'two')?.value),
    2,
  );
  await add('later');
  await applyUntil(away, 'later');
  t.same(
    (await idsOf(away)).filter((id) => id !== 'new'),
    ['first', 'later'],
    'and goes on with the feed',
  );
  t.same(present.resumed, [null], 'the other sink is not concerned');
});

t.test('old changes that every sink has applied leave no sink behind', async (t) => {
  const { sql, sinks, add, age, applyUntil, keep, left } = await feedWith(t, { names: ['one'] });
  await add('a');
  await applyUntil(sinks[0]!, 'a');
  await age(30);
  await keep();
  t.same(await left(), []);
  t.match(await readSinkLags(sql), [{ state: 'running', lagMs: 0, changes: 0 }]);
});

t.test('a feed without sinks is bounded too', async (t) => {
  const { add, age, keep, left } = await feedWith(t, { names: [] });
  await add('a');
  await age(8);
  await add('b');
  await keep();
  t.same(await left(), ['b']);
});

t.test(
  'a change of a transaction that was open while the feed dropped what follows it is applied',
  async (t) => {
    const { sql, sinks, note, add, age, apply, keep, idsOf, applyUntil } = await feedWith(t, {
      names: ['one'],
    });
    const open = await openTransaction(sql, note('open'));
    await add('dropped');
    await age(8);
    await keep();
    await apply(sinks[0]!);
    t.equal(sinks[0]!.resumed.length, 2);
    await open.end();
    await applyUntil(sinks[0]!, 'open');
    t.same(await idsOf(sinks[0]!), ['open']);
  },
);

t.test('how far a sink is behind is measured by its oldest change, with a bounded count', async (t) => {
  const { sql, sinks, add, age, applyUntil, keep, metrics } = await feedWith(t);
  await add('a');
  await age(1);
  await add('b');
  await applyUntil(sinks[0]!, 'b');
  await keep();
  const [one, two] = await readSinkLags(sql);
  t.match(one, { name: 'one', lagMs: 0, changes: 0, failures: 0, lastError: null });
  t.match(two, { name: 'two', changes: 2 });
  t.ok(Math.abs(two!.lagMs - DAY_MS) < 60_000);
  const gauge = (await metrics.lagSeconds.get()).values;
  t.same(
    gauge.map(({ labels, value }) => [labels.sink, Math.round(value / 3_600)]),
    [
      ['one', 0],
      ['two', 24],
    ],
  );
});

t.test(
  'an open transaction that holds late sinks back is found, and none once they are not late',
  async (t) => {
    const { sql, sinks, note, add, age, apply, keep, applyUntil } = await feedWith(t, { names: ['one'] });
    const open = await openTransaction(sql, note('open'));
    await add('held');
    await apply(sinks[0]!);
    t.equal((await keep()).holder, null, 'the change is not late yet');
    await age(1);
    t.equal((await keep()).holder, null, 'no transaction is old');
    t.match((await keep({ lateMs: 0 })).holder, { pid: Number, applicationName: String, seconds: Number });
    await open.end();
    await applyUntil(sinks[0]!, 'held');
    t.equal((await keep({ lateMs: 0 })).holder, null);
  },
);

/** What a restore into another cluster leaves: everything as it was, where transactions have lower numbers. */
const HIGH = '9000000000000000000';
const HIGHER = '9000000000000000001';

t.test('a feed restored into another cluster is read from its beginning: no change is missed', async (t) => {
  const { sql, sinks, add, apply, applyUntil, keep, left, idsOf, warnings } = await feedWith(t);
  await add('applied');
  for (const sink of sinks) await applyUntil(sink, 'applied');
  await keep();
  await sql`insert into assay.changes (xid, organization_id, kind, created_ats, request_ids)
    values (${HIGHER}::xid8, ${organizationId}, 'record', array[now()], '{waiting}')`;
  await sql`update assay.sinks set cursor_xid = ${HIGH}::xid8, cluster = 17`;
  // Written after the restore, before any sink ran.
  await add('since');
  await apply(sinks[0]!);
  t.same(await idsOf(sinks[0]!), ['applied'], 'its cursor lies beyond every change');
  await keep();
  t.same((await left()).sort(), ['since', 'waiting'], 'and nothing was dropped by it');
  t.match(warnings, [/restored from another cluster/]);
  for (const sink of sinks) {
    await applyUntil(sink, 'waiting');
    t.same((await idsOf(sink)).sort(), ['applied', 'since', 'waiting'], sink.name);
  }
  await keep();
  t.same(await left(), []);
  t.equal(warnings.length, 1, 'it is adopted once');
});

t.test(
  'a restore is noticed by the transaction numbers alone where the cluster cannot be identified',
  async (t) => {
    const { sql, sinks, add, applyUntil, keep, warnings } = await feedWith(t, { names: ['one'] });
    await sql`update assay.sinks set cursor_xid = ${HIGH}::xid8, cluster = 0`;
    await add('since');
    await keep();
    t.match(warnings, [/restored/]);
    await applyUntil(sinks[0]!, 'since');
  },
);

t.test(
  'a restore is noticed by the cluster when its transactions have passed the cursor already',
  async (t) => {
    const { sql, sinks, add, applyUntil, keep, warnings, left } = await feedWith(t, { names: ['one'] });
    await add('since');
    // As if the cursor were from a cluster that was not as far: the change lies before it.
    await sql`update assay.sinks set cursor_xid = pg_snapshot_xmax(pg_current_snapshot()), cluster = 17`;
    await keep();
    t.same(await left(), ['since']);
    t.match(warnings, [/restored/]);
    await applyUntil(sinks[0]!, 'since');
  },
);

t.test('two processes that keep the feed at once drop everything once, and adopt it once', async (t) => {
  const { sql, sinks, add, applyUntil, keep, left, warnings, metrics } = await feedWith(t, {
    names: ['one'],
  });
  for (let index = 0; index < 20; index += 1) await add(`r${index}`);
  await applyUntil(sinks[0]!, 'r19');
  await Promise.all([keep(), keep(), keep()]);
  t.same(
    (await metrics.dropped.get()).values.map(({ value }) => value),
    [20],
  );
  t.same(await left(), []);
  await sql`update assay.sinks set cluster = 17`;
  await Promise.all([keep(), keep(), keep()]);
  t.equal(warnings.length, 1);
});
