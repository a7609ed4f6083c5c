/** One session: its tree, its conversation, its rating and tag. */
import t, { type Test } from 'tap';
import type { Conversation, SessionNode, SessionRow, SessionTree } from '#core/contracts/session.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { loopDelayMs } from '../../../support/loop-delay.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const START = Date.now() - 3_600_000;
let made = 0;

/** Inserts the requests of a new session, a second apart unless told otherwise, and returns its id. */
async function session(requests: Partial<SeedRequest>[], id = `session ${++made}`): Promise<string> {
  const rows = requests.map((request, index) => ({
    created_at: new Date(START + index * 1_000),
    session_id: id,
    ...request,
  }));
  await insertRequests(api.database.sql, api.own.organizationId, rows);
  return id;
}

const at = (id: string, more = '') => `/v1/session/${encodeURIComponent(id)}${more}`;

async function get<T>(t: Test, path: string): Promise<T> {
  const answer = await api.call(path);
  t.equal(answer.status, 200, answer.body.error ?? '');
  return answer.body.data as T;
}

const rowOf = async (t: Test, id: string) => (await get<SessionTree>(t, at(id))).session;

t.test('the tree has every request at its path, with totals of what is below', async (t) => {
  const id = await session([
    { request_id: 'root', session_path: null, cost_nano: 100_000_000, total_tokens: 10 },
    {
      request_id: 'plan',
      session_path: '/agent/plan',
      cost_nano: 200_000_000,
      total_tokens: 20,
      status: 500,
    },
    {
      request_id: 'agent',
      session_path: '/agent',
      session_name: 'trip',
      latency_ms: 1_200,
      ttft_ms: 30,
      user_id: 'ada',
      scores: { helpful: 0.5 },
      feedback_rating: true,
    },
    { request_id: 'judge', source: 'evaluator', session_path: '/agent' },
  ]);
  const { session: row, tree, next } = await get<SessionTree>(t, at(id));
  t.equal(next, null);
  t.match(row, {
    session_id: id,
    session_name: 'trip',
    total_requests: 3,
    total_cost: 0.3,
    total_tokens: 30,
  });
  t.match(tree, { name: '', path: '/', total_requests: 3, total_tokens: 30, total_cost: 0.3 });
  t.same(
    tree.requests.map((request) => request.request_id),
    ['root'],
  );
  const [agent] = tree.children as [SessionNode];
  t.match(agent, { name: 'agent', path: '/agent', total_requests: 2, total_tokens: 20, total_cost: 0.2 });
  t.same(agent.requests, [
    {
      request_id: 'agent',
      session_path: '/agent',
      created_at: new Date(START + 2_000).toISOString(),
      response_created_at: null,
      delay_ms: 1_200,
      time_to_first_token: 30,
      status: 200,
      provider: 'OPENAI',
      model: 'gpt-4o-mini-2024-07-18',
      prompt_tokens: null,
      completion_tokens: null,
      total_tokens: null,
      cost: null,
      user_id: 'ada',
      scores: { helpful: 0.5 },
      feedback_rating: true,
    },
  ]);
  t.match(agent.children, [
    { name: 'plan', path: '/agent/plan', requests: [{ request_id: 'plan', status: 500 }] },
  ]);
});

t.test('a tree is read a page at a time, in the order of time, each request once', async (t) => {
  const same = { created_at: new Date(START) };
  const id = await session(Array.from({ length: 7 }, (_, index) => ({ request_id: `p${index}`, ...same })));
  const seen: string[] = [];
  let after = '';
  for (let pages = 1; ; pages += 1) {
    const page = await get<SessionTree>(t, at(id, `?limit=3${after}`));
    t.equal(page.session.total_requests, 7, 'the session is whole on every page');
    seen.push(...page.tree.requests.map((request) => request.request_id));
    if (page.next === null) {
      t.equal(pages, 3);
      break;
    }
    after = `&after=${page.next}`;
  }
  t.same(seen, ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6']);
});

const chat = (...messages: unknown[]) => JSON.stringify({ model: 'm', messages });
const answered = (content: string) =>
  JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] });
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

t.test('a conversation shows of each turn what no earlier turn of its path has shown', async (t) => {
  const id = await session([
    { request_text: chat(user('a')), response_text: answered('b') },
    { request_text: chat(user('a'), assistant('b'), user('c')), response_text: answered('d') },
    { request_text: chat(user('a')), response_text: answered('x'), session_path: '/other' },
    { request_text: chat(user('a'), assistant('b'), user('c2')), response_text: '{}' },
    {
      request_text: chat(user('a'), assistant('b'), user('c'), assistant('d'), user('e')),
      response_text: answered('f'),
    },
  ]);
  const { turns, next } = await get<Conversation>(t, at(id, '/conversation'));
  t.equal(next, null);
  t.same(
    turns.map(({ seen_messages, messages, answer }) => [seen_messages, messages, answer]),
    [
      [0, [user('a')], assistant('b')],
      [2, [user('c')], assistant('d')],
      [0, [user('a')], assistant('x')],
      [2, [user('c2')], null],
      [4, [user('e')], assistant('f')],
    ],
  );
  const paged: unknown[] = [];
  for (let after = ''; ; ) {
    const page = await get<Conversation>(t, at(id, `/conversation?limit=1${after}`));
    paged.push(...page.turns);
    if (page.next === null) break;
    after = `&after=${page.next}`;
  }
  t.same(paged, turns, 'a turn shows the same on whatever page it is');
});

t.test('a conversation shows the numbers of its messages with all of their digits', async (t) => {
  const call = '{"type":"tool_use","id":"c","name":"cancel","input":{"order":9007199254740993}}';
  const id = await session([
    {
      request_text: `{"messages":[{"role":"assistant","content":[${call}]}]}`,
      response_text: `{"role":"assistant","content":[${call}]}`,
    },
  ]);
  const { text } = await api.call(at(id, '/conversation'));
  t.same(text.match(/"order":\d+/g), ['"order":9007199254740993', '"order":9007199254740993']);
});

t.test(
  'a turn with bodies of more than 1 MiB says so, and a deeply nested one is shown as text',
  async (t) => {
    const nested = `{"messages":[${'['.repeat(5_000)}${']'.repeat(5_000)}]}`;
    const id = await session([
      { request_text: chat(user('x'.repeat(1_100_000))) },
      { request_text: chat(user('a')) },
      { request_text: nested },
      {},
    ]);
    const { turns } = await get<Conversation>(t, at(id, '/conversation'));
    t.same(
      turns.map(({ messages, is_too_large: isTooLarge }) => [messages.length, isTooLarge]),
      [
        [0, true],
        [1, false],
        [1, false],
        [0, false],
      ],
    );
    t.same(turns[2]!.messages, [user(nested)]);
  },
);

t.test('turns of very many values say so, and hold up no other call', async (t) => {
  const body = (values: number) => `{"messages":[${'[],'.repeat(values - 3)}[]]}`;
  const dense = { request_text: body(300_000) };
  const id = await session([dense, dense, dense, { request_text: body(15_000) }, dense]);
  const read = () => get<Conversation>(t, at(id, '/conversation'));
  const { turns } = await read();
  t.same(
    turns.map(({ messages, is_too_large: isTooLarge }) => [messages.length, isTooLarge]),
    [
      [0, true],
      [0, true],
      [0, true],
      [14_998, false],
      [0, true],
    ],
  );
  const heldUpMs = await loopDelayMs(3, read);
  t.ok(heldUpMs < 150, `the longest turn of the event loop took ${heldUpMs} ms`);
});

t.test('a page of a conversation ends at 200,000 values', async (t) => {
  const texts = Array.from({ length: 14 }, (_, turn) => `{"messages":[${turn},${'[],'.repeat(18_000)}[]]}`);
  const id = await session(texts.map((text) => ({ request_text: text })));
  const first = await get<Conversation>(t, at(id, '/conversation'));
  t.equal(first.turns.length, 12);
  const second = await get<Conversation>(t, at(id, `/conversation?after=${first.next}`));
  t.equal(second.turns.length, 2);
  t.equal(second.next, null);
});

t.test('a rating is shown, replaced and taken back', async (t) => {
  const id = await session([{}]);
  for (const rating of [true, false, null]) {
    const answer = await api.call(at(id, '/feedback'), { body: { rating } });
    t.same([answer.status, answer.body.data], [200, null]);
    t.equal((await rowOf(t, id)).feedback_rating, rating);
    const listed = await api.call('/v1/session/query', {
      body: { search: id, filter: { response: { status: { equals: 200 } } } },
    });
    t.equal((listed.body.data as SessionRow[])[0]!.feedback_rating, rating, 'also where rows are filtered');
  }
});

t.test('a tag is shown, replaced and taken away, and survives new requests', async (t) => {
  const id = await session([{}]);
  t.equal(await get(t, at(id, '/tag')), null);
  for (const tag of ['first', '😀 second\0', 'x'.repeat(200)]) {
    t.equal((await api.call(at(id, '/tag'), { body: { tag } })).status, 200);
    t.equal(await get(t, at(id, '/tag')), tag.replace('\0', '\ufffd'));
  }
  await session([{}], id);
  t.match(await rowOf(t, id), { tag: 'x'.repeat(200), total_requests: 2 });
  await api.call(at(id, '/tag'), { body: { tag: null } });
  t.equal(await get(t, at(id, '/tag')), null);
});

t.test('two writers of one rating both succeed, and one of them wins', async (t) => {
  const id = await session([{}]);
  const answers = await Promise.all(
    [true, false, true, false].map((rating) => api.call(at(id, '/feedback'), { body: { rating } })),
  );
  t.same(
    answers.map((answer) => answer.status),
    [200, 200, 200, 200],
  );
  t.type((await rowOf(t, id)).feedback_rating, 'boolean');
});

t.test('an id may be any text', async (t) => {
  for (const id of ['a/b', '%', 'a b?c#d', '😀', "it's", '../x', 'é'.repeat(500)]) {
    await session([{}], id);
    t.equal((await rowOf(t, id)).session_id, id);
  }
});

t.test('unknown sessions and those of others are a 404, and a bad parameter is a 400', async (t) => {
  const id = await session([{}]);
  const calls: [string, object?][] = [
    [''],
    ['/conversation'],
    ['/tag'],
    ['/tag', { tag: 'x' }],
    ['/feedback', { rating: true }],
  ];
  for (const [more, body] of calls) {
    const options = body === undefined ? {} : { body };
    const foreign = await api.call(at(id, more), { ...options, key: api.other.key });
    t.same([foreign.status, foreign.body.error], [404, `There is no session with the id "${id}"`]);
    t.equal((await api.call(at('unknown', more), options)).status, 404);
    t.equal((await api.call(at('\0'.repeat(5), more), options)).status, 404);
  }
  t.match(await rowOf(t, id), { tag: null, feedback_rating: null }, 'nothing has changed');
  for (const query of ['limit=0', 'limit=5001', 'limit=x', 'after=x', 'after=WzEsMl0', 'afte=x']) {
    const { status, body } = await api.call(at(id, `?${query}`));
    t.equal(status, 400, query);
    t.match(body.error, query.slice(0, 4));
  }
  t.equal((await api.call(at(id, '/conversation?limit=101'))).status, 400);
  for (const body of [{}, { rating: 1 }, { rating: true, more: 1 }])
    t.equal((await api.call(at(id, '/feedback'), { body })).status, 400);
  for (const body of [{}, { tag: '' }, { tag: 'x'.repeat(201) }, { tag: 5 }])
    t.equal((await api.call(at(id, '/tag'), { body })).status, 400);
});

t.test('has-session says whether the organization has one', async (t) => {
  await session([{}]);
  t.equal(await get(t, '/v1/session/has-session'), true);
  t.equal((await api.call('/v1/session/has-session', { key: api.other.key })).body.data, false);
});

t.test('what changes a session needs the scope write', async (t) => {
  const id = await session([{}]);
  const key = await api.own.keyWith(['read']);
  t.equal((await api.call(at(id, '/tag'), { key })).status, 200);
  t.equal((await api.call(at(id, '/tag'), { key, body: { tag: 'x' } })).status, 403);
  t.equal((await api.call(at(id, '/feedback'), { key, body: { rating: true } })).status, 403);
});
