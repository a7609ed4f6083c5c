import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';
import { ask, create, itemsOf, refusal, versionsOf } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

type Made = {
  version: number;
  added: number;
  unchanged: number;
  skipped: { reason: string; count: number }[];
};
const make = (id: string, body: object) => ask<Made>(api, `/${id}/items/from-requests`, body);

const question = (text: string) => JSON.stringify({ messages: [{ role: 'user', content: text }] });
const answer = (message: object) => JSON.stringify({ choices: [{ index: 0, message }] });
const YES = answer({ role: 'assistant', content: 'Yes' });

const seed = (...given: Partial<SeedRequest>[]) =>
  insertRequests(api.database.sql, api.own.organizationId, given);
const ofUser = (user: string) => ({ filter: { request: { user_id: { equals: user } } } });

t.test('an item of a request has its body, answer, inputs and session, and its id as a name', async (t) => {
  const id = await create(api);
  const body =
    '{"stream":true,"z":1,"seed":12345678901234567890,"user":"u","messages":[{"role":"user","content":"Hi"}],"stream_options":{}}';
  const [row] = await seed({
    user_id: 'whole',
    session_id: 'the session',
    inputs: { city: 'Oslo' },
    request_text: body,
    response_text: YES,
  });
  const made = await make(id, { ...ofUser('whole'), expected: 'answer', split: 'test', message: 'made' });
  t.same(made, { version: 1, added: 1, unchanged: 0, skipped: [] });
  const { text } = await api.call(`/v1/dataset/${id}/items/query`, { body: {} });
  t.ok(
    text.includes(
      '"request":{"z":1,"seed":12345678901234567890,"user":"u","messages":[{"role":"user","content":"Hi"}]}',
    ),
    text,
  );
  t.match(await itemsOf(api, id), [
    {
      externalId: row!.request_id,
      sourceRequestId: row!.request_id,
      expected: 'Yes',
      metadata: { inputs: { city: 'Oslo' } },
      split: 'test',
      cluster: 'the session',
    },
  ]);
  t.equal((await versionsOf(api, id))[0]!.message, 'made');
  const again = await make(id, { ...ofUser('whole'), expected: 'none' });
  t.same(again, { version: 1, added: 0, unchanged: 1, skipped: [] }, 'and is left as it is');
});

t.test('an answer that calls tools is expected as a whole message', async (t) => {
  const id = await create(api);
  const message = { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'f' } }] };
  const [row] = await seed({ request_text: question('x'), response_text: answer(message) });
  await make(id, { requestIds: [row!.request_id], expected: 'answer', cluster: 'none' });
  const [item] = await itemsOf(api, id);
  t.same(item!.expected, message);
  t.notOk('cluster' in item!);
});

t.test('an answer that calls tools keeps the digits of its numbers', async (t) => {
  const id = await create(api);
  const message = '{"role":"assistant","tool_calls":[{"id":"c","input":{"order":9007199254740993}}]}';
  const [row] = await seed({
    request_text: question('x'),
    response_text: `{"choices":[{"index":0,"message":${message}}]}`,
  });
  await make(id, { requestIds: [row!.request_id], expected: 'answer' });
  const { text } = await api.call(`/v1/dataset/${id}/items/query`, { body: {} });
  t.ok(text.includes(`"expected":${message}`), text);
});

t.test('requests that cannot be items are counted by the reason', async (t) => {
  const id = await create(api);
  const own = { user_id: 'mixed', request_text: question('x'), response_text: YES };
  const rows = await seed(
    own,
    { ...own, source: 'playground' },
    { ...own, source: 'evaluator' },
    { ...own, status: 500 },
    { ...own, status: 0 },
    { ...own, path: '/v1/embeddings' },
    { ...own, request_text: '{}' },
    { ...own, request_text: '{"text":"no JSON"}' },
    { ...own, request_text: '{"messages":[]}' },
    { ...own, request_text: question('x'.repeat(1024 * 1024)) },
    { ...own, response_text: answer({ role: 'assistant', content: null }) },
    { ...own, response_text: '{}' },
  );
  const of = ({ skipped }: Made) => Object.fromEntries(skipped.map(({ reason, count }) => [reason, count]));
  const made = await make(id, { ...ofUser('mixed'), expected: 'answer', dryRun: true });
  const reasons = {
    playground: 1,
    failed: 2,
    other_endpoint: 1,
    no_chat_body: 3,
    body_too_large: 1,
    no_answer: 2,
  };
  t.same([made.version, made.added, of(made)], [0, 1, reasons], 'calls of evaluators pass no filter');
  t.same(await versionsOf(api, id), [], 'a dry run stores nothing');
  const requestIds = [...rows.map(({ request_id }) => request_id), 'unknown'];
  const named = await make(id, { requestIds, expected: 'answer' });
  t.same([named.version, named.added, of(named)], [1, 1, { ...reasons, evaluator: 1, not_found: 1 }]);
});

t.test('a sample is the same for the same seed, another for another, and grows by what it had', async (t) => {
  await seed(
    ...Array.from({ length: 60 }, (_, index) => ({
      user_id: 'sampled',
      request_text: question(`${index}`),
      response_text: YES,
    })),
  );
  const sampled = async (n: number, seed: number) => {
    const id = await create(api);
    t.match(await make(id, { ...ofUser('sampled'), sample: { n, seed } }), { added: n });
    return new Set((await itemsOf(api, id)).map(({ externalId }) => externalId));
  };
  const first = await sampled(20, 1);
  t.same(await sampled(20, 1), first);
  const other = await sampled(20, 2);
  t.notOk([...other].every((name) => first.has(name)));
  const larger = await sampled(30, 1);
  t.ok([...first].every((name) => larger.has(name)));
});

t.test('a stratified sample has of each value the share that it has of all', async (t) => {
  const row = (index: number) => ({
    user_id: 'strata',
    properties: { Plan: index < 80 ? 'free' : index < 96 ? 'pro' : 'rare' },
    model: index % 2 === 0 ? 'a' : 'b',
    request_text: question(`${index}`),
  });
  const rows = await seed(...Array.from({ length: 100 }, (_, index) => row(index)));
  const byId = new Map(rows.map((one) => [one.request_id, one]));
  const share = async (stratifyBy: string, readValue: (row: SeedRequest) => string) => {
    const id = await create(api);
    await make(id, { ...ofUser('strata'), sample: { n: 25, seed: 7, stratifyBy } });
    const values = (await itemsOf(api, id)).map(({ externalId }) => readValue(byId.get(externalId!)!));
    return Object.fromEntries([...Map.groupBy(values, (v) => v)].map(([value, all]) => [value, all.length]));
  };
  t.same(await share('plan', ({ properties }) => properties!.Plan!), { free: 20, pro: 4, rare: 1 });
  const models = await share('model', ({ model }) => model);
  t.ok(Math.abs(models.a! - models.b!) <= 1, JSON.stringify(models));
});

t.test('unusable bodies in a sample are replaced by the next requests in its order', async (t) => {
  await seed(
    ...Array.from({ length: 40 }, (_, index) => ({
      user_id: 'holes',
      request_text: index % 2 === 0 ? '{}' : question(`${index}`),
    })),
  );
  const id = await create(api);
  t.match(await make(id, { ...ofUser('holes'), sample: { n: 15, seed: 3 } }), { added: 15 });
});

t.test('a body that names requests in no way, or in two, is refused', async (t) => {
  const id = await create(api);
  const refused = (body: object) => refusal(api, `/${id}/items/from-requests`, { body });
  t.same(await refused({}), [400, 'filter is required, or q in its place']);
  t.same(await refused({ requestIds: ['a'], q: 'status:200' }), [
    400,
    'requestIds and filter or q exclude each other: send one of them',
  ]);
  t.same(await refused({ requestIds: ['a'], sample: { n: 1, seed: 1 } }), [
    400,
    'sample needs filter or q, not requestIds',
  ]);
  t.match(await refused({ filter: { nothing: 1 } }), [400, /^filter/]);
});

t.test('requests of many megabytes become items each once, a part at a time, in any mixture', async (t) => {
  const id = await create(api);
  const large = (letter: string) => letter.repeat(900_000);
  const rows = await seed(
    ...Array.from('abcdefghijkl', (letter, index) => ({
      request_text: question(large(letter)),
      // Most have an answer that is larger than the item.
      response_text:
        index % 3 === 0
          ? YES
          : answer({ role: 'assistant', content: letter, reasoning: 'x'.repeat(3_900_000) }),
    })),
  );
  const ids = rows.map(({ request_id: name }) => name);
  const [first, second] = [ids.slice(0, 4), ids.slice(4)];
  t.match(await make(id, { requestIds: first }), { added: 4, unchanged: 0, skipped: [] });
  const mixed = [
    second[0]!,
    'missing 1',
    first[0]!,
    ...second.slice(1, 6),
    first[1]!,
    'missing 2',
    ...second.slice(6),
  ];
  t.match(await make(id, { requestIds: mixed }), {
    added: second.length,
    unchanged: 2,
    skipped: [{ reason: 'not_found', count: 2 }],
  });
  t.same((await itemsOf(api, id)).map(({ externalId }) => externalId).sort(), [...ids].sort());
});

t.test('requests of another organization are not found', async (t) => {
  const [theirs] = await insertRequests(api.database.sql, api.other.organizationId, [
    { request_text: question('x') },
  ]);
  const id = await create(api);
  t.same(await make(id, { requestIds: [theirs!.request_id] }), {
    version: 0,
    added: 0,
    unchanged: 0,
    skipped: [{ reason: 'not_found', count: 1 }],
  });
});
