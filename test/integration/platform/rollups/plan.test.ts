/** Reading roll-ups under the role of the API: with the rows that they leave out, they are all rows, at every moment. */
import t from 'tap';
import { Parameters } from '#core/filter/mod.ts';
import { noteChange } from '#platform/changes/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { cellsOfSegments, planRollups, rowSpansOfSegments } from '#platform/rollups/mod.ts';
import type { WantedRange } from '#platform/rollups/plan.ts';
import type { CellSource } from '#platform/rollups/segments-sql.ts';
import { recompute } from '../../../../sinks/rollups/recompute.ts';
import { TASKS } from '../../../../sinks/rollups/tasks.ts';
import { connectAsApi, openTransaction } from '../../../support/postgres.ts';
import { seededRandom } from '../../../support/random.ts';
import {
  applyAllChanges,
  applyChanges,
  noteStored,
  recomputeAll,
  registerRollups,
} from '../../../support/rollups.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { databaseFor } from '../../../support/world.ts';

const database = await databaseFor(t);
const { sql } = database;
const api = connectAsApi(database.url, { max: 2 });
t.teardown(() => api.end());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = Date.now();
const everything = { fromMs: NOW_MS - 40 * DAY_MS + 12_345, toMs: NOW_MS + HOUR_MS, boundariesMs: [] };

async function newOrganization(name: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into assay.organizations (name) values (${name}) returning organization_id as id`;
  return row!.id;
}

async function insertAt(organizationId: string, moments: readonly number[]): Promise<void> {
  const rows = await insertRequests(
    sql,
    organizationId,
    moments.map((ms) => ({ created_at: new Date(ms), user_id: 'ann' })),
  );
  const added = rows.map((row) => ({ organizationId, createdAt: row.created_at, requestId: row.request_id }));
  await sql.begin((tx) => noteStored(tx, added));
}

type Read = { plan: Awaited<ReturnType<typeof planRollups>>; requests: number; rows: number };

/** Counts the requests of a range as a metrics query does, and all of its rows, at one moment. */
function read(organizationId: string, wanted: WantedRange, source: CellSource, on: Sql = api): Promise<Read> {
  return on.begin('isolation level repeatable read read only', async (tx) => {
    await tx`select set_config('assay.organization', ${organizationId}, true)`;
    const plan = await planRollups(tx, organizationId, wanted);
    const segments = plan?.segments ?? [];
    const parameters = new Parameters();
    const organization = parameters.bind(organizationId, 'uuid');
    const [row] = await tx.unsafe<[{ requests: number; rows: number }]>(
      `select ((select coalesce(sum(c.requests), 0) from ${cellsOfSegments(source, segments, organization, parameters)})
               + (select count(*) from ${rowSpansOfSegments(segments, parameters)}
                    join assay.requests r on r.organization_id = ${organization}
                     and r.created_at >= span.from_at and r.created_at < span.to_at))::int as requests,
              (select count(*) from assay.requests r
                where r.created_at >= ${parameters.bind(new Date(wanted.fromMs).toISOString(), 'timestamptz')}
                  and r.created_at < ${parameters.bind(new Date(wanted.toMs).toISOString(), 'timestamptz')})::int as rows`,
      parameters.values as string[],
    );
    return { plan, ...row };
  }) as Promise<Read>;
}

const totals = { ...everything, family: 'totals' } as const;
const bySource = { table: 'rollup_totals', level: 'source' } as const;

t.test('there is no plan before the roll-ups have come up', async (t) => {
  const organizationId = await newOrganization('early');
  await insertAt(organizationId, [NOW_MS - HOUR_MS]);
  t.equal((await read(organizationId, totals, bySource)).plan, null);
  await registerRollups(sql);
  t.equal((await read(organizationId, totals, bySource)).plan, null, 'being registered is not enough');
  await applyAllChanges(sql);
  t.not((await read(organizationId, totals, bySource)).plan, null);
});

t.test('a plan reads rows of what is stale or not applied yet, and buckets of everything else', async (t) => {
  const organizationId = await newOrganization('steps');
  const dayMs = Math.floor(NOW_MS / DAY_MS - 10) * DAY_MS;
  const wanted = { ...totals, fromMs: dayMs, toMs: dayMs + 2 * DAY_MS };
  const plan = async () => (await read(organizationId, wanted, bySource)).plan!.segments;
  const days = [{ grainSeconds: 86_400, fromMs: dayMs, toMs: dayMs + 2 * DAY_MS }];
  t.same(await plan(), days, 'buckets without requests are clean');

  const lateMs = dayMs + 5 * HOUR_MS + 1;
  const around = [
    { grainSeconds: 10_800, fromMs: dayMs, toMs: dayMs + 3 * HOUR_MS },
    { grainSeconds: 1_800, fromMs: dayMs + 3 * HOUR_MS, toMs: dayMs + 5 * HOUR_MS },
    { grainSeconds: 'rows', fromMs: dayMs + 5 * HOUR_MS, toMs: dayMs + 5.5 * HOUR_MS },
    { grainSeconds: 1_800, fromMs: dayMs + 5.5 * HOUR_MS, toMs: dayMs + 6 * HOUR_MS },
    { grainSeconds: 10_800, fromMs: dayMs + 6 * HOUR_MS, toMs: dayMs + DAY_MS },
    { grainSeconds: 86_400, fromMs: dayMs + DAY_MS, toMs: dayMs + 2 * DAY_MS },
  ];
  await insertAt(organizationId, [lateMs]);
  t.same(await plan(), around, 'a change that the sink has not applied');
  await applyAllChanges(sql);
  t.same(await plan(), around, 'a change that the sink has marked');
  await recomputeAll(sql);
  t.same(await plan(), days, 'its buckets were recomputed');
});

t.test('a change concerns the families that it is part of', async (t) => {
  const organizationId = await newOrganization('kinds');
  const atMs = Math.floor(NOW_MS / DAY_MS - 5) * DAY_MS;
  await sql`select assay.ensure_partitions(${new Date(atMs)})`;
  const isClean = async (family: WantedRange['family']) => {
    const { plan } = await read(
      organizationId,
      { ...totals, family, fromMs: atMs, toMs: atMs + DAY_MS },
      bySource,
    );
    return plan!.segments.length === 1;
  };
  const keys = [{ createdAt: new Date(atMs), requestId: 'any' }];
  const all = async () => [await isClean('totals'), await isClean('values'), await isClean('scores')];
  for (const [note, expected] of [
    [{ kind: 'score', keys, details: [{ key: 'helpful', value: 1 }] }, [true, true, false]],
    [{ kind: 'property', keys, details: [{ key: 'plan', value: 'pro' }] }, [true, false, true]],
    [{ kind: 'deleted', keys }, [false, false, false]],
  ] as const) {
    await sql.begin((tx) => noteChange(tx, { organizationId, ...note }));
    t.same(await all(), expected, `${note.kind}: not applied yet`);
    await applyAllChanges(sql);
    t.same(await all(), expected, `${note.kind}: marked`);
    await recomputeAll(sql);
    t.same(await all(), [true, true, true], `${note.kind}: recomputed`);
  }
});

t.test('at every step of marking and recomputing, cells and rows together are all rows', async (t) => {
  const organizationId = await newOrganization('random');
  const random = seededRandom(38);
  const below = (bound: number) => Math.floor(random() * bound);
  const wrong: unknown[] = [];
  for (let step = 0; step < 25; step += 1) {
    const moments = Array.from(
      { length: 1 + below(4) },
      () => Date.now() - Math.floor(random() ** 4 * 30 * DAY_MS),
    );
    await insertAt(organizationId, moments);
    if (random() < 0.4) await applyChanges(sql);
    for (let count = below(6); count > 0; count -= 1) {
      await recompute({
        sql,
        task: TASKS[below(TASKS.length)]!,
        limit: 5,
        isPatient: false,
        organizationId: null,
      });
    }
    const cut = Date.now() - below(2 * DAY_MS);
    const wanted = { fromMs: totals.fromMs + below(DAY_MS), toMs: totals.toMs, boundariesMs: [cut] };
    for (const [family, source] of [
      ['totals', bySource],
      ['totals', { table: 'rollup_totals', level: 'path' }],
      ['values', { table: 'rollup_values', dimension: 'user', name: '' }],
    ] as const) {
      const { plan, requests, rows } = await read(organizationId, { ...wanted, family }, source);
      if (requests !== rows) wrong.push({ step, family, requests, rows, segments: plan?.segments });
    }
  }
  t.same(wrong, []);
});

t.test('changes of an open transaction are read by nobody, and after its commit at once', async (t) => {
  const organizationId = await newOrganization('open');
  const createdAt = new Date(Math.floor(NOW_MS / DAY_MS - 3) * DAY_MS);
  const [seeded] = await insertRequests(sql, organizationId, [{ created_at: createdAt }]);
  await sql.begin((tx) => noteStored(tx, [{ organizationId, createdAt, requestId: seeded!.request_id }]));
  await applyAllChanges(sql);
  await recomputeAll(sql);
  const open = await openTransaction(sql, async (tx) => {
    await tx`delete from assay.requests where request_id = ${seeded!.request_id}`;
    const keys = [{ createdAt, requestId: seeded!.request_id }];
    await noteChange(tx, { organizationId, kind: 'deleted', keys });
  });
  const before = await read(organizationId, totals, bySource);
  t.same([before.requests, before.rows], [1, 1]);
  await open.end();
  const after = await read(organizationId, totals, bySource);
  t.same([after.requests, after.rows], [0, 0]);
});

t.test('with more changes than can be read, a plan is as of the last applied one', async (t) => {
  const organizationId = await newOrganization('behind');
  await applyAllChanges(sql);
  await sql`
    insert into assay.changes (organization_id, kind, created_ats, request_ids)
    select ${organizationId}, 'record', array[now()], array['x'] from generate_series(1, 5001)`;
  const [{ at }] = await sql<[{ at: Date }]>`select cursor_at as at from assay.sinks where name = 'rollups'`;
  const { plan } = await read(organizationId, totals, bySource);
  t.equal(plan!.asOfMs, at.getTime());
  await applyAllChanges(sql);
  await recomputeAll(sql);
  t.ok((await read(organizationId, totals, bySource)).plan!.asOfMs > at.getTime());
});

t.test('another organization sees neither cells nor marks nor changes', async (t) => {
  const [owner, other] = [await newOrganization('owner'), await newOrganization('other')];
  const atMs = Math.floor(NOW_MS / DAY_MS - 2) * DAY_MS;
  await insertAt(owner, [atMs + 1]);
  await applyAllChanges(sql);
  await recomputeAll(sql);
  await insertAt(owner, [atMs + DAY_MS / 2]);
  const wanted = { ...totals, fromMs: atMs, toMs: atMs + DAY_MS };
  const seen = await api.begin(async (tx) => {
    await tx`select set_config('assay.organization', ${other}, true)`;
    // As if a statement had the wrong organization.
    const plan = await planRollups(tx, owner, wanted);
    const [cells] = await tx`
      select (select count(*) from assay.rollup_totals) + (select count(*) from assay.rollup_histograms)
           + (select count(*) from assay.rollup_values) + (select count(*) from assay.rollup_scores)
           + (select count(*) from assay.rollup_stale) as count`;
    return { segments: plan!.segments, cells: Number(cells!.count) };
  });
  t.same(seen, { segments: [{ grainSeconds: 86_400, fromMs: atMs, toMs: atMs + DAY_MS }], cells: 0 });
});
