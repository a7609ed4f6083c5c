/** Tokens that a provider did not count: counted here, priced, and marked, or left unknown where they cannot be. */
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import { BUILT_IN_CATALOG } from '#core/models/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { buildRecord } from '../../../ingest/build-record.ts';
import { deadLetterOf, insertDeadLetter } from '../../../ingest/dead-letters.ts';
import { estimateUsage } from '../../../ingest/estimate-usage.ts';
import { retryDeadLetter } from '../../../ingest/retry-dead-letter.ts';
import { BatchStore, type BatchStoreOptions } from '../../../ingest/store-batch.ts';
import { createTokenCounter, type TokenCounter } from '../../../ingest/tokens/mod.ts';
import { logEntry } from '../../support/log-entries.ts';
import { loopDelayMs } from '../../support/loop-delay.ts';
import { slowText } from '../../support/slow-text.ts';
import { databaseFor } from '../../support/world.ts';

const database = await databaseFor(t);
const { sql } = database;
const counter = createTokenCounter({
  clock: systemClock,
  onFailure: (error) => {
    throw error;
  },
  timeoutMs: 30_000,
});
t.teardown(() => counter.close());

type Stored = {
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  cost_nano: number | null;
  price_source: string | null;
  usage_estimated: boolean;
};

type Call = { head?: Partial<LogEntryHead>; request?: unknown; response?: unknown };

/** A store with a counter, unless told otherwise. */
function storeWith(more: Partial<BatchStoreOptions> = {}): BatchStore {
  const log = createLogger({ role: 'test', level: 'silent' });
  return new BatchStore({ sql, log, clock: systemClock, retentionDays: null, counter, ...more });
}

/** Stores calls in one batch, and returns what became of their tokens, in order. */
async function store(calls: readonly Call[], into = storeWith()): Promise<Stored[]> {
  const entries = calls.map(({ head, request = QUESTION, response }) => ({
    ...logEntry(head, { request, response }),
    origin: 'test/1',
  }));
  await into.store({ entries });
  const rows = await sql<(Stored & { request_id: string })[]>`
    select request_id, prompt_tokens, completion_tokens, total_tokens, cost_nano::float8 as cost_nano, price_source,
           usage_estimated
      from assay.requests where request_id = any(${entries.map(({ id }) => id)})`;
  return entries.map(({ id }) => rows.find((row) => row.request_id === id)!);
}

const QUESTION = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] };
const chat = (message: object, more: object = {}) => ({
  id: 'c1',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', ...message } }],
  ...more,
});
const GREETING = chat({ content: 'Hello! How can I assist you today?' });
/** Of gpt-4o-mini, in nano-dollars a token. */
const PRICE = { prompt: 150, completion: 600 };
const UNKNOWN: Stored = {
  prompt_tokens: null,
  completion_tokens: null,
  total_tokens: null,
  cost_nano: null,
  price_source: null,
  usage_estimated: false,
};

const checkUnknown = async (t: Test, what: string, call: Call, into?: BatchStore) => {
  const [row] = await store([call], into);
  t.match(row, UNKNOWN, what);
};

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

/** Stores a stream as far as it came, and returns its record. */
async function storeStream(head: Partial<LogEntryHead>, events: string): Promise<Stored> {
  const { id, ...entry } = logEntry({ stream: true, truncated: true, ...head }, { request: QUESTION });
  await storeWith().store({ entries: [{ ...entry, origin: 'test/1', responseBody: Buffer.from(events) }] });
  const [row] = await sql<Stored[]>`select * from assay.requests where request_id = ${id}`;
  return row!;
}

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

t.test('an omitted body is not counted, and without both counts there is no cost', async (t) => {
  const [noRequest, noResponse, noMessage, noEmbedding] = await store([
    { head: { omitRequest: true }, response: GREETING },
    { head: { omitResponse: true }, response: { id: 'c1', object: 'chat.completion', model: 'gpt-4o-mini' } },
    { head: { omitResponse: true }, response: { id: 'm1', type: 'message', model: 'claude-sonnet-4-5' } },
    { head: { omitResponse: true }, request: { input: [1, 2] }, response: { object: 'list', model: 'e' } },
  ]);
  const none = { total_tokens: null, cost_nano: null, usage_estimated: true };
  t.match(noRequest, { prompt_tokens: null, completion_tokens: 9, ...none });
  for (const row of [noResponse, noMessage]) {
    t.match(row, { prompt_tokens: 8, completion_tokens: null, ...none });
  }
  t.match(
    noEmbedding,
    { prompt_tokens: 2, completion_tokens: 0, total_tokens: 2 },
    'embeddings have no text to omit',
  );
});

t.test('a call that was not charged, or whose answer is no text, gets no counted tokens', async (t) => {
  for (const status of [0, 400, 401, 429, 500, 502, 504]) {
    await checkUnknown(t, `status ${status}`, { head: { status }, response: GREETING });
  }
  await checkUnknown(t, 'interrupted', {
    head: { status: 0, truncated: true, errorCode: 'interrupted' },
    response: {},
  });
  await checkUnknown(t, 'left before a byte came', { head: { status: 499, truncated: true }, response: {} });
  await checkUnknown(t, 'no text', { response: chat({ content: null }) });
  await checkUnknown(t, 'a picture', {
    request: { prompt: 'a cat' },
    response: { data: [{ b64_json: 'AAAA' }] },
  });
  await checkUnknown(t, 'a moderation', {
    request: { input: 'a' },
    response: { id: 'm', results: [{ flagged: false }] },
  });
  await checkUnknown(t, 'a moderation left out', {
    head: { omitResponse: true },
    request: { input: 'a' },
    response: { id: 'modr-1', model: 'omni-moderation' },
  });
});

t.test('an answer from the cache without usage is not counted', async (t) => {
  const [row] = await store([{ head: { cachedFrom: 'x' }, response: GREETING }]);
  t.match(row, UNKNOWN);
});

t.test('the tokens of a model without a price are counted, and its cost is null', async (t) => {
  const head = { provider: 'CUSTOM', requestModel: 'dark-horse' };
  const [row] = await store([{ head, response: { ...GREETING, model: 'dark-horse' } }]);
  t.match(row, { prompt_tokens: 8, completion_tokens: 9, cost_nano: null, usage_estimated: true });
});

t.test('onEstimated receives the number of records stored with counted tokens', async (t) => {
  const told: number[] = [];
  const into = storeWith({ onEstimated: (count) => told.push(count) });
  await store([{ response: GREETING }, { response: {} }, { response: GREETING }], into);
  await store([{ response: {} }], into);
  t.same(told, [2]);
});

t.test('a record whose tokens cannot be counted is stored without them', async (t) => {
  const failing: Pick<TokenCounter, 'count'>[] = [
    { count: async (texts) => texts.map(() => null) },
    createTokenCounter({ clock: systemClock, onFailure: () => {}, thread: new URL('file:///nowhere.mjs') }),
  ];
  for (const counter of failing)
    await checkUnknown(t, 'a counter that fails', { response: GREETING }, storeWith({ counter }));
  const log = createLogger({ role: 'test', level: 'silent' });
  const without = new BatchStore({ sql, log, clock: systemClock, retentionDays: null });
  await checkUnknown(t, 'no counter', { response: GREETING }, without);
  const [begun] = await store(
    [
      {
        head: { truncated: true },
        response: {
          type: 'message',
          content: [{ type: 'text', text: 'Hello' }],
          stop_reason: null,
          usage: { input_tokens: 4, output_tokens: 1 },
        },
      },
    ],
    storeWith({ counter: failing[0]! }),
  );
  t.match(
    begun,
    { prompt_tokens: 4, completion_tokens: 1, usage_estimated: false },
    'and what was counted stays',
  );
});

t.test('the tokens of a retried dead letter are counted as those of any entry', async (t) => {
  const entry = { ...logEntry({}, { request: QUESTION, response: GREETING }), origin: 'test/1' };
  await sql.begin((tx) => insertDeadLetter(tx, deadLetterOf(entry, 'no reason')));
  const [letter] = await sql`select dead_letter_id as id from assay.dead_letters`;
  t.same(await retryDeadLetter(sql, letter!.id), { refused: null });
  const [row] = await sql`select * from assay.requests where request_id = ${entry.id}`;
  t.match(row, { prompt_tokens: 8, completion_tokens: 9, usage_estimated: true });
});

t.test('counting a prompt of 1 MB does not block the event loop', async (t) => {
  const requests = Array.from({ length: 3 }, () => ({
    messages: [{ role: 'user', content: slowText(1_000_000) }],
  }));
  const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
  const delayOf = (response: unknown) =>
    loopDelayMs(requests.length, (round) => store([{ request: requests[round], response }]));
  const counted = await delayOf(GREETING);
  const given = await delayOf({ ...GREETING, usage });
  t.comment(`longest delay ${counted.toFixed(1)} ms when counted here, ${given.toFixed(1)} ms when not`);
  t.ok(counted < given + 100, 'it takes a third of a second or more, elsewhere');
});

t.test('estimating usage never throws, whatever the request and the answer hold', async () => {
  const json = fc.jsonValue({ maxDepth: 5 });
  const member = fc.constantFrom(
    'messages',
    'input',
    'prompt',
    'tools',
    'choices',
    'content',
    'output',
    'usage',
    'object',
    'data',
  );
  const body = fc.dictionary(member, json, { maxKeys: 5, noNullPrototype: false });
  const status = fc.constantFrom(0, 200, 204, 429, 499, 500);
  const call = fc.tuple(body, body, status, fc.boolean(), fc.boolean(), fc.boolean());
  await fc.assert(
    fc.asyncProperty(call, async ([request, response, status, truncated, omitRequest, omitResponse]) => {
      const record = buildRecord(
        logEntry({ status, truncated, omitRequest, omitResponse }, { request, response }),
      );
      const [stored] = await estimateUsage([record], counter, BUILT_IN_CATALOG);
      const { prompt_tokens, completion_tokens, total_tokens, usage_estimated } = stored!.request;
      for (const tokens of [prompt_tokens, completion_tokens, total_tokens]) {
        if (tokens !== null && !(Number.isInteger(tokens) && tokens >= 0))
          throw new Error(`${tokens} tokens`);
      }
      if (usage_estimated && record.uncounted === null) throw new Error('marked, and not counted');
    }),
    { numRuns: 2_000 },
  );
});
