import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { ask, asking, type Changes, create, itemsOf, put, refusal, versionsOf } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const load = (id: string, body: object) => ask<Changes>(api, `/${id}/items/import`, body);
const exported = async (id: string, rest = '') =>
  (await api.call(`/v1/dataset/${id}/export?format=jsonl${rest}`)).text;

t.test('what is exported is imported without loss, into the same dataset and into another', async (t) => {
  const id = await create(api);
  const request =
    '{"z":1,"seed":12345678901234567890,"2":0.10,"messages":[{"content":"a\\nb \\u0000\\ud800 ü"}]}';
  const raw = `{"items":[{"request":\n ${request} ,"expected":null,"metadata":{"k": 1.0},"split":"s","cluster":"c"},
    {"request":{"inputs":{}},"externalId":"x","sourceRequestId":"01JBXYZ0000000000000000002"}]}`;
  await api.call(`/v1/dataset/${id}/items`, { raw });
  await put(api, id, [asking('later')]);
  const text = await exported(id, '&version=1');
  t.equal(text.split('\n').length, 3);
  t.ok(text.includes(request), text);
  t.match(await load(id, { format: 'jsonl', text: await exported(id) }), { version: 2, unchanged: 3 });
  const copy = await create(api);
  t.match(await load(copy, { format: 'jsonl', text, message: 'a copy' }), { version: 1, added: 2 });
  t.equal(await exported(copy), text);
  t.equal((await versionsOf(api, copy))[0]!.content_sha256, (await versionsOf(api, id))[1]!.content_sha256);
  t.match(await load(id, { format: 'jsonl', text, replace: true }), { version: 3, unchanged: 2, removed: 1 });
  t.equal(await exported(await create(api)), '', 'a dataset without versions has no lines');
});

t.test('an export of several pages has every item once, in order', async (t) => {
  const id = await create(api);
  const lines = Array.from({ length: 1_201 }, (_, index) => JSON.stringify(asking(`${index}`)));
  t.match(await load(id, { format: 'jsonl', text: `\ufeff${lines.join('\r\n\r\n')}` }), { added: 1_201 });
  const contents = (await exported(id))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).request.messages[0].content);
  t.same(contents, [...lines.keys()].map(String));
});

t.test('without statistics on items, a large file is imported again as quickly', async (t) => {
  const id = await create(api);
  const lines = (answer: string) =>
    Array.from({ length: 10_000 }, (_, index) =>
      JSON.stringify(
        asking(`${index}`, { expected: answer, ...(index % 2 ? { externalId: `${index}` } : {}) }),
      ),
    ).join('\n');
  const timed = async (text: string) => {
    const begin = performance.now();
    return { changes: await load(id, { format: 'jsonl', text }), ms: performance.now() - begin };
  };
  const first = await timed(lines('a'));
  const again = await timed(lines('a'));
  t.match(again.changes, { version: 1, unchanged: 10_000 });
  const changed = await timed(lines('b'));
  t.match(changed.changes, { version: 2, added: 5_000, changed: 5_000 });
  // A look-up that reads the dataset for each item takes twenty times as long.
  t.ok(again.ms < 4 * first.ms, `${again.ms} ms after ${first.ms} ms`);
  t.ok(changed.ms < 4 * first.ms, `${changed.ms} ms after ${first.ms} ms`);
});

t.test('a CSV file with too many columns, or one of them twice, is refused', async (t) => {
  const id = await create(api);
  const columns = (count: number) => Array.from({ length: count }, (_, at) => `metadata.${at}`).join();
  const refused = (text: string) => refusal(api, `/${id}/items/import`, { body: { format: 'csv', text } });
  t.match((await refused(`input,${columns(1_000)}\nx\n`))[1], /has more than 1000 cells/);
  t.match((await refused(`input,${columns(900)},metadata.7\nx\n`))[1], /has the column "metadata.7" twice/);
});

t.test('a row of CSV is an item; cells may hold commas, quotes and line breaks', async (t) => {
  const id = await create(api);
  const text = [
    'question,answer,external_id,split,metadata.level,metadata',
    '"May I, or ""not""?\r\nTell me",yes,a,test,3,"{""k"": 1.0}"',
    'Second,"{""score"": 1}",,,,',
    '',
    'Third',
  ].join('\r\n');
  const mapping = { columns: { question: 'input', answer: 'expected' } };
  t.match(await load(id, { format: 'csv', text, mapping, split: 'rest' }), { version: 1, added: 3 });
  t.match(await itemsOf(api, id), [
    {
      ...asking('May I, or "not"?\r\nTell me'),
      expected: 'yes',
      externalId: 'a',
      split: 'test',
      metadata: { level: '3', k: 1 },
    },
    { ...asking('Second'), expected: { score: 1 }, split: 'rest' },
    asking('Third'),
  ]);
  const whole = `messages,cluster\n"[{""role"":""user"",""content"":""x""}]",c1\n`;
  t.match(await load(id, { format: 'csv', text: whole, replace: true }), { added: 1, removed: 3 });
  t.match(await itemsOf(api, id), [{ ...asking('x'), cluster: 'c1' }]);
});

const good = JSON.stringify(asking('fine'));
const REFUSED: [format: string, text: string, sentence: string, rest?: object][] = [
  ['jsonl', `${good}\n\n{"request":{"messages":1}}`, 'Line 3: request.messages must be an array, but is 1'],
  ['jsonl', `${good}\n{`, 'Line 2 is not valid JSON: it ends too early'],
  [
    'jsonl',
    `[${good}]`,
    'Line 1 must be an object, but is [{"request":{"messages":[{"role":"user","content":"fine"}]}}]',
  ],
  ['jsonl', good, 'mapping belongs to the format csv', { mapping: { columns: {} } }],
  ['csv', 'input\nfine\n"x', 'Line 3 begins a quoted cell that has no end'],
  ['csv', 'input\n"a\nb"x', 'Line 3 has text behind the end of a quoted cell'],
  ['csv', 'input\na,b', 'Line 2 has 2 cells, but the first line names 1 columns'],
  ['csv', 'input,input\na,b', 'Line 1 has the column "input" twice'],
  ['csv', 'expected\na', 'Line 1 must have exactly one column of request, messages, input'],
  ['csv', 'input,messages\na', 'Line 1 must have exactly one column of request, messages, input'],
  ['csv', 'request\n{"messages":[]', 'Line 2: request must be JSON'],
  ['csv', 'input,metadata\na,[1]', 'Line 2: metadata must be an object of JSON'],
  ['csv', 'input,expected\n,x', 'Line 2: request is required'],
  [
    'csv',
    'input,metadata.a,metadata\nx,1,"{""a"":1}"',
    'Line 2 names "a" twice in one object: only one of them could count',
  ],
  [
    'csv',
    'x\na',
    'mapping.columns names "y", which is no column of the file',
    { mapping: { columns: { y: 'input' } } },
  ],
  [
    'csv',
    'input,note\na,b',
    'Line 1 has the column "note", which is none of request, messages, input, expected, metadata, id, external_id, split, cluster, source_request_id, metadata.*: map it',
  ],
];

t.test('a file with a fault is refused with its line, and nothing of it is stored', async (t) => {
  const id = await create(api);
  for (const [format, text, sentence, rest] of REFUSED) {
    const body = { format, text, ...rest };
    t.same(await refusal(api, `/${id}/items/import`, { body }), [400, sentence]);
  }
  t.same(await versionsOf(api, id), []);
});
