/** What a claim of runs hands out: of each organization, with each item as the target's call needs it. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { estimateCost, requestOf } from '#core/experiments/mod.ts';
import { type JsonObject, parseExactObject } from '#core/json/mod.ts';
import { createCatalog } from '#core/models/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { type ClaimOptions, claimRuns } from '../../../../evaluators/experiments/claim.ts';
import { type RunResult, settleRun } from '../../../../evaluators/experiments/settle.ts';
import { bringAllForward } from '../../../../evaluators/set-back.ts';
import { erase } from '../../../support/erase.ts';
import { rowsRead } from '../../../support/rows-read.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { databaseFor, silentLog } from '../../../support/world.ts';

const ITEM = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const MESSAGES = [{ role: 'user', content: 'Hello' }];
const MODEL = { kind: 'model', model: 'gpt-4o-mini' };
const ROOM = { limit: 8, roomByOrganization: new Map(), roomOfOthers: 4 };
const catalog = createCatalog(null);

type Content = { request?: JsonObject; metadata?: JsonObject; target?: JsonObject };

/** Makes an organization whose experiment of one item runs; returns its id. */
async function experimentOf(
  sql: Sql,
  { request = { messages: MESSAGES }, metadata = {}, target = MODEL }: Content,
): Promise<string> {
  const [organization, dataset, experiment] = [randomUUID(), randomUUID(), randomUUID()];
  await sql`insert into assay.organizations (organization_id, name) values (${organization}, ${organization})`;
  await sql`
    insert into assay.datasets (dataset_id, organization_id, name, last_version, created_at, updated_at)
    values (${dataset}, ${organization}, 'd', 1, now(), now())`;
  await sql`
    insert into assay.dataset_items (dataset_id, item_id, from_version, organization_id, request, metadata, content_sha256)
    values (${dataset}, ${ITEM}, 1, ${organization}, ${JSON.stringify(request)}, ${JSON.stringify(metadata)}, '\\x00')`;
  await sql`
    insert into assay.experiments (experiment_id, organization_id, name, dataset_id, dataset_version, target, evaluators,
      repetitions, seed, concurrency, cache, state, created_at, updated_at)
    values (${experiment}, ${organization}, 'x', ${dataset}, 1, ${sql.json(target as never)}, '[]', 1, 0, 8, 'off',
      'running', now(), now())`;
  await sql`
    insert into assay.experiment_runs (experiment_id, item_id, repetition, organization_id, position, due_at, state)
    values (${experiment}, ${ITEM}, 1, ${organization}, 1, now() - interval '1 s', 'pending')`;
  return organization;
}

/** Claims once; returns the jobs, and the organizations whose claim failed. */
async function claimed(sql: Sql, options: Partial<ClaimOptions> = {}) {
  const failed: string[] = [];
  const { jobs } = await claimRuns(sql, ROOM, {
    estimate: (target, item) => estimateCost(catalog, target, item, Date.now()),
    prices: catalog,
    nowMs: Date.now,
    onFailed: (organizationId) => failed.push(organizationId),
    ...options,
  });
  return { jobs, failed, organizations: jobs.map(({ organizationId }) => organizationId) };
}

for (const limits of [{ max_tokens: 0.5 }, { max_tokens: 1e300 }, { max_completion_tokens: 1e300, n: 1e9 }]) {
  t.test(`an item with ${JSON.stringify(limits)} is claimed as any other`, async (t) => {
    const { sql } = await databaseFor(t);
    const odd = await experimentOf(sql, { request: { messages: MESSAGES, ...limits } });
    const { organizations, failed } = await claimed(sql);
    t.strictSame([organizations, failed], [[odd], []]);
    const [call] = await sql<{ nano: string }[]>`select cost_nano::text as nano from assay.experiment_calls`;
    t.ok(Number(call!.nano) > 0, call!.nano);
  });
}

t.test('an organization whose claim fails keeps no other from its runs', async (t) => {
  const { sql } = await databaseFor(t);
  const [first, broken, last] = [
    await experimentOf(sql, {}),
    await experimentOf(sql, { request: { messages: MESSAGES, broken: true } }),
    await experimentOf(sql, {}),
  ];
  const { organizations, failed } = await claimed(sql, {
    estimate: (_target, { request }) => {
      if (request.broken === true) throw new Error('This item cannot be priced');
      return 1;
    },
  });
  t.strictSame(organizations.toSorted(), [first, last].toSorted());
  t.strictSame(failed, [broken]);
});

t.test('a prompt is filled with the inputs of the request that an item was made of', async (t) => {
  const { sql } = await databaseFor(t);
  const inputs = { name: 'Ada', odd: '\0' };
  await experimentOf(sql, {
    metadata: { inputs },
    target: { kind: 'prompt', promptId: 'p', versionId: 'v' },
  });
  const [job] = (await claimed(sql)).jobs;
  t.strictSame(requestOf(job!.target, job!.item!), { body: { prompt_id: 'p', version_id: 'v', inputs } });
});

t.test('a call of an item has the digits of its numbers', async (t) => {
  const { sql } = await databaseFor(t);
  const inputs = '{"order":9007199254740993}';
  await experimentOf(sql, {
    metadata: { inputs: parseExactObject(inputs) },
    target: { kind: 'prompt', promptId: 'p', versionId: 'v' },
  });
  const [job] = (await claimed(sql)).jobs;
  t.equal(
    JSON.stringify(requestOf(job!.target, job!.item!)),
    `{"body":{"prompt_id":"p","version_id":"v","inputs":${inputs}}}`,
  );
});

t.test('with a request go the calls of its items that failed and were made again', async (t) => {
  const { sql } = await databaseFor(t);
  const organization = await experimentOf(sql, {});
  const [source] = await insertRequests(sql, organization, [{}]);
  await sql`update assay.dataset_items set source_request_id = ${source!.request_id}`;
  const outcomes: Partial<RunResult>[] = [
    { errorCode: 'status_503' },
    // A refused key pauses the experiment; the call was logged all the same.
    { errorCode: 'status_401', isUncounted: true, pause: 'Refused' },
  ];
  const calls: string[] = [];
  for (const outcome of outcomes) {
    const [job] = (await claimed(sql)).jobs;
    calls.push(job!.callId);
    await insertRequests(sql, organization, [{ request_id: job!.callId, status: 500 }]);
    const failed = {
      state: 'pending',
      dueInMs: -1,
      errorMessage: 'Why',
      pause: null,
      isUncounted: false,
    } as const;
    t.ok(await settleRun(sql, job!, { ...failed, errorCode: null, ...outcome }));
  }
  const reserved = await sql`select from assay.experiment_calls where begun_at is not null`;
  t.equal(reserved.count, 1, 'nothing stays reserved for the call that does not count');
  await erase(sql, organization, source!.request_id);
  t.same([...(await sql`select request_id from assay.requests`)], []);
  const gone = await sql<{ id: string }[]>`select request_id as id from assay.erased_requests`;
  t.same(new Set(gone.map(({ id }) => id)), new Set([source!.request_id, ...calls]));
});

t.test('a run of a clock that was set back is claimed a minute later', async (t) => {
  const { sql } = await databaseFor(t);
  const [ahead, failed] = [await experimentOf(sql, {}), await experimentOf(sql, {})];
  const due = async (organizationId: string, minutes: number) => sql`
    update assay.experiment_runs set due_at = now() + ${minutes} * interval '1 minute'
     where organization_id = ${organizationId}`;
  await due(ahead, 300);
  await due(failed, 4);
  await bringAllForward(sql, silentLog);
  const [minutes] = await sql<[{ ahead: number; failed: number }]>`
    select min(extract(epoch from due_at - now())::float8 / 60) filter (where organization_id = ${ahead}) as ahead,
           min(extract(epoch from due_at - now())::float8 / 60) filter (where organization_id = ${failed}) as failed
      from assay.experiment_runs`;
  t.ok(minutes.ahead > 0.9 && minutes.ahead <= 1, String(minutes.ahead));
  t.ok(minutes.failed > 3.9, 'a wait of today is kept');
  t.same((await claimed(sql)).jobs, []);
});

t.test('a claim does not read the runs that wait behind those it takes', async (t) => {
  const MANY = 20_000;
  const { sql } = await databaseFor(t);
  const organization = await experimentOf(sql, {});
  await sql`
    insert into assay.experiment_runs (experiment_id, item_id, repetition, organization_id, position, due_at, state)
    select experiment_id, item_id || n, 1, organization_id, 1 + n, due_at, 'pending'
      from assay.experiment_runs cross join generate_series(1, ${MANY}) as n`;
  await sql`vacuum analyze assay.experiment_runs`;
  let organizations: string[] = [];
  const read = await rowsRead(sql, '^experiment_runs$', async (inside) => {
    await inside`set local plan_cache_mode = force_generic_plan`;
    ({ organizations } = await claimed(inside));
  });
  t.same(organizations, Array(4).fill(organization));
  t.ok(read.all < 100, `${read.all} of ${MANY} read`);
});
