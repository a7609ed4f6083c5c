import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { ask, asking, create, itemsOf, put, refusal } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const requestSchema = { properties: { messages: { minItems: 1 } }, required: ['messages'] };
const expectedSchema = { type: 'string', enum: ['yes', 'no'] };

t.test('items that do not fit the schemas of their dataset are refused, all of the call', async (t) => {
  const id = await create(api, { requestSchema, expectedSchema });
  t.match(await ask(api, `/${id}`), { requestSchema, expectedSchema });
  const good = asking('Hi', { expected: 'yes' });
  const refused = (bad: object) => refusal(api, `/${id}/items`, { body: { items: [good, bad] } });
  t.same(await refused({ request: { messages: [] }, expected: 'no' }), [
    400,
    'items.1.request.messages must have at least 1 items, but is []',
  ]);
  t.same(await refused({ request: { inputs: {} }, expected: 'no' }), [
    400,
    'items.1.request must have the member "messages", but is {"inputs":{}}',
  ]);
  t.same(await refused(asking('Hi', { expected: 'maybe' })), [
    400,
    'items.1.expected must be one of the values that the schema lists, but is "maybe"',
  ]);
  t.same(await refused(asking('Hi')), [400, 'items.1.expected is required by the schema']);
  t.same(await itemsOf(api, id), []);
  t.match(await put(api, id, [good]), { version: 1, added: 1 });
});

t.test('a schema that is changed or taken away holds for later calls', async (t) => {
  const id = await create(api, { expectedSchema });
  await put(api, id, [asking('a', { expected: 'yes' })]);
  await ask(api, `/${id}`, { expectedSchema: { type: 'number' } }, 'PATCH');
  t.match(await put(api, id, [asking('b', { expected: 1 })]), { added: 1 });
  await ask(api, `/${id}`, { expectedSchema: null }, 'PATCH');
  t.match(await put(api, id, [asking('c')]), { added: 1 });
});

t.test('a schema with a pattern, or one that is none, is refused', async (t) => {
  const id = await create(api);
  const REFUSED: [schema: unknown, sentence: string][] = [
    [
      { properties: { a: { pattern: '(a+)+$' } } },
      'requestSchema.properties.a.pattern is a keyword that is not supported: docs/guides/datasets.md lists those that are',
    ],
    ['x', 'requestSchema must be a schema, but is "x"'],
    [
      { minItems: Number.POSITIVE_INFINITY },
      'requestSchema.minItems must be a whole number of at least 0, but is Infinity',
    ],
  ];
  for (const [schema, sentence] of REFUSED) {
    const raw = JSON.stringify({ requestSchema: schema }).replace('null', '1e400');
    t.same(await refusal(api, `/${id}`, { method: 'PATCH', raw }), [400, sentence]);
  }
});

t.test('requests that do not fit are skipped', async (t) => {
  const id = await create(api, { requestSchema: { required: ['temperature'] } });
  const text = (rest: object) => JSON.stringify({ messages: [{ role: 'user', content: 'x' }], ...rest });
  const rows = await insertRequests(api.database.sql, api.own.organizationId, [
    { request_text: text({}) },
    { request_text: text({ temperature: 0 }) },
  ]);
  const requestIds = rows.map(({ request_id }) => request_id);
  t.match(await ask(api, `/${id}/items/from-requests`, { requestIds }), {
    added: 1,
    skipped: [{ reason: 'schema', count: 1 }],
  });
});

t.test(
  'items that take too long together to hold against a schema are refused, and none is stored',
  async (t) => {
    const anyOf = [...Array.from({ length: 480 }, () => ({ type: 'string' })), { type: 'number' }];
    const id = await create(api, { expectedSchema: { type: 'array', items: { anyOf } } });
    // Each takes nearly as long as one may.
    const items = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        asking(`Question ${index}`, { expected: Array.from({ length: 500 }, () => 1) }),
      );
    t.match(await refusal(api, `/${id}/items`, { body: { items: items(100) } }), [
      400,
      /^The items take too long together to hold against the schemas of the dataset: send fewer/,
    ]);
    t.match(await put(api, id, items(2)), { added: 2 });
  },
);
