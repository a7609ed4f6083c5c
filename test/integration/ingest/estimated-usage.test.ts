/** Tokens that a provider did not count: counted here, priced, and marked. */
import t from 'tap';
import { deadLetterOf, insertDeadLetter } from '../../../ingest/dead-letters.ts';
import { retryDeadLetter } from '../../../ingest/retry-dead-letter.ts';
import { logEntry } from '../../support/log-entries.ts';
import { chat, GREETING, PRICE, QUESTION, startUsageWorld } from './usage-world.ts';

const { sql, storeWith, store, storeStream } = await startUsageWorld(t);

t.test('an answer without usage gets counted tokens, their cost, and a mark', async (t) => {
  const [row] = await store([{ response: GREETING }]);
  t.match(row, {
    prompt_tokens: 8,
    completion_tokens: 9,
    total_tokens: 17,
    cost_nano: 8 * PRICE.prompt + 9 * PRICE.completion,
    price_source: /^genai-prices@/,
    usage_estimated: true,
  });
});

t.test('tokens that the provider counted stay unchanged and unmarked', async (t) => {
  const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
  const [row] = await store([{ response: { ...GREETING, usage } }]);
  t.match(row, { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, usage_estimated: false });
});

t.test('each record of a batch gets its own tokens', async (t) => {
  const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
  const rows = await store([
    { response: GREETING },
    { response: { ...GREETING, usage } },
    { response: chat({ content: 'Hello' }) },
    { head: { status: 500 }, response: GREETING },
    { request: { messages: [{ role: 'user', content: 'hello hello' }] }, response: GREETING },
  ]);
  t.same(
    rows.map((row) => [row.prompt_tokens, row.completion_tokens, row.usage_estimated]),
    [
      [8, 9, true],
      [100, 50, false],
      [8, 1, true],
      [null, null, false],
      [9, 9, true],
    ],
  );
});

t.test('the received part of a stream is counted when its client left', async (t) => {
  const chunk = (content: string) =>
    `data: ${JSON.stringify({ id: 'c1', model: 'gpt-4o-mini', choices: [{ index: 0, delta: { content } }] })}\n\n`;
  const head = { status: 499, errorCode: 'client_closed_request' };
  const row = await storeStream(head, chunk('Hello!') + chunk(' How can'));
  t.match(row, { prompt_tokens: 8, completion_tokens: 4, total_tokens: 12, usage_estimated: true });
});

t.test('a Messages stream that broke off keeps the prompt tokens from message_start', async (t) => {
  const event = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 25, output_tokens: 1 },
  };
  const begun =
    event('message_start', { message }) +
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello! How can' } });
  const ended = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 15 } });
  const head = { provider: 'ANTHROPIC', path: '/v1/messages', status: 499 };
  const left = await storeStream(head, begun);
  t.match(left, { prompt_tokens: 25, completion_tokens: 4, total_tokens: 29, usage_estimated: true });
  const whole = await storeStream({ ...head, status: 200 }, begun + ended);
  t.match(whole, { prompt_tokens: 25, completion_tokens: 15, usage_estimated: false });
});

t.test('tool calls, completions, Messages, Responses and embeddings without usage are counted', async (t) => {
  const user = [{ role: 'user', content: 'hello' }];
  const tool = { function: { name: 'get_capital', arguments: '{"country":"England"}' } };
  const rows = await store([
    { response: chat({ content: null, tool_calls: [tool] }) },
    { request: { prompt: 'hello' }, response: { choices: [{ index: 0, text: 'Hello!' }] } },
    {
      request: { messages: user },
      response: { type: 'message', content: [{ type: 'text', text: 'Hello!' }], stop_reason: 'end_turn' },
    },
    {
      request: { input: 'hello' },
      response: { output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello!' }] }] },
    },
    {
      request: { input: ['hello', 'hello hello'] },
      response: { object: 'list', data: [{ embedding: [0.5] }] },
    },
    { request: { input: [1, 2, 3] }, response: { object: 'list', data: [{ embedding: [0.5] }] } },
  ]);
  t.same(
    rows.map((row) => [row.prompt_tokens, row.completion_tokens, row.usage_estimated]),
    [
      [8, 15, true],
      [1, 2, true],
      [8, 2, true],
      [8, 2, true],
      [3, 0, true],
      [3, 0, true],
    ],
  );
});

t.test(
  'a message that broke off keeps the prompt tokens of its provider, and only its answer is counted',
  async (t) => {
    const usage = {
      input_tokens: 400,
      cache_read_input_tokens: 50,
      cache_creation_input_tokens: 6,
      output_tokens: 1,
    };
    const message = {
      type: 'message',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: 'Hello! How can I assist you today?' }],
      stop_reason: null,
      usage,
    };
    const head = { provider: 'ANTHROPIC', requestModel: 'claude-sonnet-4-5', truncated: true };
    const [broken, ended, started, long] = await store([
      { head, response: message },
      { head, response: { ...message, stop_reason: 'end_turn', usage: { ...usage, output_tokens: 77 } } },
      { head, response: { ...message, content: [] } },
      { head, response: { ...message, usage: { ...usage, output_tokens: 77 } } },
    ]);
    t.match(broken, { prompt_tokens: 456, completion_tokens: 9, total_tokens: 465, usage_estimated: true });
    t.match(
      broken,
      { cost_nano: 400 * 3_000 + 50 * 300 + 6 * 3_750 + 9 * 15_000 },
      'what was cached has its own price',
    );
    t.match(ended, { prompt_tokens: 456, completion_tokens: 77, usage_estimated: false }, 'it told its end');
    t.match(
      started,
      { prompt_tokens: 456, completion_tokens: 1, usage_estimated: false },
      'nothing had come',
    );
    t.match(
      long,
      { completion_tokens: 77, usage_estimated: true },
      'what it had counted is the least there was',
    );
  },
);

t.test('the tokens of a model without a price are counted, and its cost is null', async (t) => {
  const head = { provider: 'CUSTOM', requestModel: 'dark-horse' };
  const [row] = await store([{ head, response: { ...GREETING, model: 'dark-horse' } }]);
  t.match(row, { prompt_tokens: 8, completion_tokens: 9, cost_nano: null, usage_estimated: true });
});

t.test('a provider may have a name that every object has', async (t) => {
  const head = { provider: 'CONSTRUCTOR' };
  const usage = { prompt_tokens: 8, completion_tokens: 9, total_tokens: 17 };
  const [counted, told] = await store([
    { head, response: GREETING },
    { head, response: { ...GREETING, usage } },
  ]);
  const tokens = { prompt_tokens: 8, completion_tokens: 9, cost_nano: null };
  t.match(counted, { ...tokens, usage_estimated: true });
  t.match(told, { ...tokens, usage_estimated: false });
});

t.test(
  'a record whose cost cannot be computed is a dead letter, and keeps no other from being stored',
  async (t) => {
    const catalog = {
      costOf: ({ models }: { models: (string | null)[] }) => {
        if (models.includes('broken')) throw new Error('no such price');
        return { nano: 1, source: 'test' };
      },
    };
    const rows = await store(
      ['gpt-4o-mini', 'broken', 'gpt-4o', 'gpt-4o-mini'].map((model) => ({
        response: { ...GREETING, model },
      })),
      storeWith({ catalog }),
    );
    t.same(
      rows.map((row) => row?.completion_tokens),
      [9, undefined, 9, 9],
    );
    t.same(
      [...(await sql`delete from assay.dead_letters returning reason`)],
      [{ reason: 'no such price' }],
      'which tells why',
    );
  },
);

t.test('onEstimated receives the number of records stored with counted tokens', async (t) => {
  const told: number[] = [];
  const into = storeWith({ onEstimated: (count) => told.push(count) });
  await store([{ response: GREETING }, { response: {} }, { response: GREETING }], into);
  await store([{ response: {} }], into);
  t.same(told, [2]);
});

t.test('the tokens of a retried dead letter are counted as those of any entry', async (t) => {
  const entry = { ...logEntry({}, { request: QUESTION, response: GREETING }), origin: 'test/1' };
  await sql.begin((tx) => insertDeadLetter(tx, deadLetterOf(entry, 'no reason')));
  const [letter] = await sql`select dead_letter_id as id from assay.dead_letters`;
  t.same(await retryDeadLetter(sql, letter!.id), { refused: null });
  const [row] = await sql`select * from assay.requests where request_id = ${entry.id}`;
  t.match(row, { prompt_tokens: 8, completion_tokens: 9, usage_estimated: true });
});
