/** DELETE /v1/request/:id: what goes, what stays, and who may. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { hashProperty } from '#core/contracts/properties.ts';
import { foldName } from '#core/contracts/storable-text.ts';
import { encodeParts } from '#platform/log-pipeline/stream/message.ts';
import { decodeMessage } from '#platform/log-pipeline/stream/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { startTestApi } from '../../../support/api.ts';
import { waitFor } from '../../../support/assay.ts';
import { worldIn } from '../../../support/evaluation-queue.ts';
import { logEntry } from '../../../support/log-entries.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';

const api = await startTestApi(t);
const { sql } = api.database;
const world = await worldIn(t, api.database);
const { organizationId } = api.own;

const erase = (id: string, key = api.own.key) => api.call(`/v1/request/${id}`, { method: 'DELETE', key });

/** Seeds requests of the own organization. */
async function seed(...given: Partial<SeedRequest>[]): Promise<SeedRequest[]> {
  return await insertRequests(sql, organizationId, given);
}

/** The tables that hold something of a request, with the number of its rows in each; empty tables are left out. */
async function traces(requestId: string): Promise<Record<string, number>> {
  const tables = [
    ...['requests', 'request_bodies', 'request_properties', 'request_scores', 'evaluations'],
    ...['cached_answers', 'dead_letters', 'grades', 'grade_history', 'review_items', 'review_skips'],
  ];
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int from ${sql(`assay.${table}`)} where request_id = ${requestId}`;
    if (row!.count > 0) counts[table] = row!.count;
  }
  return counts;
}

const cacheAnswer = (requestId: string, owner = organizationId) => sql`
  select assay.keep_answer(${owner}, ${Buffer.from(randomUUID())}, ${requestId}, now(), now() + interval '1 day',
    200::smallint, 'application/json', ${Buffer.from('{}')}, ${Buffer.alloc(32)}, 20, 1000000)`;

const addLetter = (requestId: string, owner = organizationId) => sql`
  insert into assay.dead_letters (origin, organization_id, request_id, reason, entry)
  values ('test', ${owner}, ${requestId}, 'why', ${Buffer.from(randomUUID())})`;

/** Inserts a grade with a former value, and an item of a review queue that somebody skipped. */
async function addGrades(requestId: string) {
  const at = new Date();
  const [criterion] = await sql`
    insert into assay.criteria (criterion_id, organization_id, name, folded_name, description, kind, created_at, updated_at)
    values (gen_random_uuid(), ${organizationId}, ${requestId}, ${requestId}, '', '{"type":"boolean"}', ${at}, ${at})
    returning criterion_id`;
  const [queue] = await sql`
    insert into assay.review_queues
      (queue_id, organization_id, name, folded_name, criterion_ids, source, per_item, created_at, updated_at)
    values (gen_random_uuid(), ${organizationId}, ${requestId}, ${requestId}, '{}', '{}', 1, ${at}, ${at})
    returning queue_id`;
  const of = { organization_id: organizationId, request_id: requestId };
  const grade = {
    ...of,
    criterion_id: criterion!.criterion_id,
    person: 'author Ada',
    value: 1,
    graded_at: at,
  };
  const by = { key_id: randomUUID(), author: 'Ada' };
  await sql`insert into assay.grades ${sql({ ...grade, ...by, created_at: at, comment: 'private' })}`;
  await sql`insert into assay.grade_history ${sql({ ...grade, created_at: at, ended_at: at })}`;
  const item = { ...of, queue_id: queue!.queue_id };
  await sql`insert into assay.review_items ${sql({ ...item, position: 0, created_at: at })}`;
  await sql`insert into assay.review_skips ${sql({ ...item, ...by, person: 'author Ada', reason: 'private', skipped_at: at })}`;
}

t.test('DELETE removes a request with everything that belongs to it, and leaves a tombstone', async (t) => {
  const odd = 'a "quoted" \\ value,\n\t\u0001 ünïcode 🦊 \u2028';
  const [row, other] = await seed(
    { properties: { Plan: 'pro', 'Odd "name"': odd }, scores: { polite: 1, short: 0 } },
    { properties: { Plan: 'pro' }, scores: { polite: 1 } },
  );
  const evaluator = await world.evaluator(organizationId);
  await world.schedule(evaluator, [row!.request_id, other!.request_id]);
  await cacheAnswer(row!.request_id);
  await cacheAnswer(other!.request_id);
  await addLetter(row!.request_id);
  for (const { request_id } of [row!, other!]) await addGrades(request_id);
  const [bytesBefore] =
    await sql`select bytes from assay.cached_bytes where organization_id = ${organizationId}`;
  t.equal(Object.keys(await traces(row!.request_id)).length, 11, 'it has something in every table');
  const kept = await traces(other!.request_id);

  const before = Date.now();
  const answer = await erase(row!.request_id);
  t.same([answer.status, answer.body], [200, { data: null, error: null }]);
  t.same(await traces(row!.request_id), {});
  t.same(await traces(other!.request_id), kept, 'another request is as it was');
  const [bytesAfter] =
    await sql`select bytes from assay.cached_bytes where organization_id = ${organizationId}`;
  t.ok(Number(bytesAfter!.bytes) < Number(bytesBefore!.bytes), 'its cached answer no longer takes room');

  const [tombstone] = await sql`select * from assay.erased_requests where request_id = ${row!.request_id}`;
  const [key] = await sql`
    select key_id from assay.api_keys where organization_id = ${organizationId} and prefix = ${api.own.key.slice(0, 12)}`;
  t.match(tombstone, { organization_id: organizationId, erased_by: key!.key_id });
  t.ok(tombstone!.erased_at.getTime() >= before - 1_000);
  t.same(Object.keys(tombstone!).sort(), ['erased_at', 'erased_by', 'organization_id', 'request_id']);
});

t.test('the hash of a property in SQL is the one that ingest stores', async (t) => {
  const texts = [
    '',
    'plan',
    'ÄÖ ß',
    '"',
    '\\',
    '\n\r\t\b\f',
    '\u0001\u001f\u007f',
    '🦊',
    '\u2028',
    '</script>',
    'x'.repeat(10_000),
  ];
  const pairs = texts.flatMap((name) => texts.map((value) => [foldName(name), value] as const));
  const wrong: string[] = [];
  for (const [name, value] of pairs) {
    const [row] = await sql`select assay.property_hash(${name}, ${value})::text as hash`;
    if (row!.hash !== hashProperty(name, value).toString())
      wrong.push(encodeURIComponent(`${name}=${value}`));
  }
  t.same(wrong, []);
});

t.test('an erased request is gone from every read, and cannot be annotated', async (t) => {
  const [row] = await seed({ created_at: new Date(Date.now() - 60_000), user_id: 'erased-user' });
  const id = row!.request_id;
  t.equal((await erase(id)).status, 200);
  t.equal((await api.call(`/v1/request/${id}`)).status, 404);
  t.equal((await api.call(`/v1/request/${id}/delivery`)).status, 404);
  t.same(await api.query({ filter: { request: { user_id: { equals: 'erased-user' } } } }), []);
  t.same((await api.call('/v1/request/query-ids', { body: { requestIds: [id] } })).body.data, []);
  for (const [path, body] of [
    ['feedback', { rating: true }],
    ['score', { scores: { a: 1 } }],
  ] as const) {
    t.equal((await api.call(`/v1/request/${id}/${path}`, { body })).status, 404);
  }
});

t.test('DELETE answers 200 again for a request that it has erased, and 404 for an unknown one', async (t) => {
  const [row] = await seed({});
  t.equal((await erase(row!.request_id)).status, 200);
  t.equal((await erase(row!.request_id)).status, 200);
  for (const id of [randomUUID(), 'no id at all', '%00', 'x'.repeat(10_000), '🦊']) {
    t.equal((await erase(encodeURIComponent(id))).status, 404, id.slice(0, 20));
  }
  const [count] =
    await sql`select count(*)::int as count from assay.erased_requests where request_id = 'no id at all'`;
  t.equal(count!.count, 0, 'an unknown id gets no tombstone');
});

t.test('an id that begins like the word delete is the id of a request', async (t) => {
  const [row] = await seed({ request_id: 'de1e7e00-0000-4000-8000-000000000000' });
  t.equal((await api.call(`/v1/request/${row!.request_id}`)).status, 200);
  t.equal((await erase(row!.request_id)).status, 200);
  t.same(await traces(row!.request_id), {});
});

t.test("another organization's request is unknown, and stays with all that it has", async (t) => {
  const id = newRequestId(Date.now() - 60_000);
  await insertRequests(sql, api.other.organizationId, [{ request_id: id, scores: { a: 1 } }]);
  await cacheAnswer(id, api.other.organizationId);
  await addLetter(id, api.other.organizationId);
  const before = await traces(id);
  t.equal((await erase(id)).status, 404);
  t.same(await traces(id), before);
  t.equal((await erase(id, api.other.key)).status, 200);
  t.same(await traces(id), {});
});

t.test(
  'under row-level security the function erases for the organization of the transaction only',
  async (t) => {
    const pool = connectAsApi(api.database.url);
    t.teardown(() => pool.end());
    const [row] = await insertRequests(sql, api.other.organizationId, [{}]);
    const call = (organization: string) =>
      pool.begin(async (tx) => {
        await tx`select set_config('assay.organization', ${organization}, true)`;
        const [result] =
          await tx`select erased, known from assay.erase_requests(${[row!.request_id]}::text[], null)`;
        return result;
      });
    t.same(await call(organizationId), { erased: 0, known: 0 });
    await t.rejects(call(''), /needs an organization/);
    t.same(await call(api.other.organizationId), { erased: 1, known: 1 });
  },
);

t.test('a key without the scope write erases nothing', async (t) => {
  const [row] = await seed({});
  const reader = await api.own.keyWith(['read', 'gateway']);
  t.equal((await erase(row!.request_id, reader)).status, 403);
  t.equal(await api.call(`/v1/request/${row!.request_id}`).then(({ status }) => status), 200);
});

t.test("a judge's own calls of an erased request go too, whether they were reported or not", async (t) => {
  const [row] = await seed({});
  const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
  const [evaluationId] = await world.schedule(evaluator, [row!.request_id], { dueInMs: 60_000 });
  const judge = (property: string) =>
    ({
      source: 'evaluator',
      properties: { 'Assay-Evaluation-Id': property },
      request_text: '{"about":"it"}',
    }) as const;
  const [reported, unreported, foreign] = await seed(
    judge('moved'),
    judge(evaluationId!),
    judge('999999999'),
  );
  const expected = newRequestId();
  await sql`
    update assay.evaluations set judge_request_ids = ${[reported!.request_id, expected]}
     where evaluation_id = ${evaluationId!}`;
  t.equal((await erase(row!.request_id)).status, 200);
  t.same(await traces(reported!.request_id), {});
  t.same(await traces(unreported!.request_id), {});
  t.not(Object.keys(await traces(foreign!.request_id)).length, 0, "another evaluation's call stays");
  const tombstones = await sql`
    select request_id from assay.erased_requests
     where request_id = any(${[reported!.request_id, unreported!.request_id, expected]})`;
  t.equal(tombstones.length, 3, 'a reported call that is not stored yet will not be');
});

t.test('parts of an entry of an erased request go, those of other entries stay', async (t) => {
  const [row] = await seed({});
  const add = async (origin: string, head: { id: string; organizationId: string }, request: unknown) => {
    const entry = { ...logEntry(head, { request }), position: { segment: 0, offset: 0 } };
    for (const message of encodeParts(newRequestId(), entry, 400)) {
      const part = decodeMessage(message);
      if (part.kind !== 'part') throw new Error(part.kind);
      await sql`
        insert into assay.entry_parts (origin, cut_bytes, part, bytes)
        values (${origin}, ${part.cutBytes}, ${part.index}, ${part.bytes})`;
    }
  };
  const named = { id: row!.request_id, organizationId };
  const cut = (text: string) => ({ text: text.repeat(10) });
  await sql`delete from assay.entry_parts`;
  await add('own', named, cut('x'));
  await add('other organization', { ...named, organizationId: api.other.organizationId }, cut('x'));
  await add('other request', { id: newRequestId(), organizationId }, named);
  const origins = async () => {
    const rows = await sql`select distinct origin from assay.entry_parts order by origin`;
    return rows.map(({ origin }) => origin);
  };
  t.same(await origins(), ['other organization', 'other request', 'own']);
  await erase(row!.request_id);
  t.same(await origins(), ['other organization', 'other request']);
});

t.test('a request of which there is only a dead letter can be erased', async (t) => {
  const id = newRequestId();
  await addLetter(id);
  t.equal((await erase(id)).status, 200);
  t.same(await traces(id), {});
  t.equal((await erase(id)).status, 200);
});

t.test('DELETE waits for a request that was answered and is not stored yet', async (t) => {
  const id = newRequestId();
  const answering = erase(id);
  await seed({ request_id: id });
  t.equal((await answering).status, 200);
  t.same(await traces(id), {});
});

t.test('an erased id stays taken for requests that are logged with it', async (t) => {
  const [row] = await seed({ request_id: randomUUID() });
  await erase(row!.request_id);
  const body = {
    request_id: row!.request_id,
    provider: 'OPENAI',
    model: 'gpt-4o-mini',
    request: { body: {}, created_at: new Date().toISOString() },
    response: { body: {}, status: 200, created_at: new Date().toISOString() },
  };
  const answer = await api.call('/v1/log/request', { body });
  t.equal(answer.status, 409, answer.text);
  t.equal(
    (await api.call('/v1/log/request', { body, key: api.other.key })).status,
    200,
    'of one organization',
  );
});

t.test('two calls that erase one request at once both succeed', async (t) => {
  const [row] = await seed({ scores: { a: 1 }, properties: { a: 'b' } });
  const { sql } = api.database;
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(assay.erasure_lock(${api.own.organizationId}))`;
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const erasing = [erase(row!.request_id), erase(row!.request_id)];
  await waitFor('both to have found it', async () => {
    const [waiting] = await sql<{ count: number }[]>`
      select count(*)::int4 as count from pg_stat_activity
       where datname = current_database() and application_name = 'assay-api' and wait_event_type = 'Lock'`;
    return waiting!.count === 2;
  });
  released.resolve();
  await holding;
  const answers = await Promise.all(erasing);
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  );
  t.same(await traces(row!.request_id), {});
});
