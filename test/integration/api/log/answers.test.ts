/** Answers of requests made elsewhere: event streams of all dialects are put together, other text is kept. */
import t from 'tap';
import { ANSWER, call, startLogWorld } from './world.ts';

const { api, ingest, logged, record } = await startLogWorld(t);

const sse = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
const delta = (content: string, finish_reason: string | null = null) => ({
  id: 'chatcmpl-2',
  object: 'chat.completion.chunk',
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, delta: { content }, finish_reason }],
});

async function streamColumns(id: unknown) {
  const rows = await api.database
    .sql`select is_stream, truncated from assay.requests where request_id = ${id as string}`;
  return { ...rows[0] };
}

t.test('a logged event stream of chat completion chunks is assembled', async (t) => {
  const { usage } = ANSWER;
  const text = `: hello\n\n${sse(delta('He'), delta('llo', 'stop'), { ...delta(''), choices: [], usage })}data: [DONE]\n\n`;
  const found = await record(call({ timing: { time_to_first_token: 20 } }, { body: text }));
  t.match(found, {
    response_body: {
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    },
    response_id: 'chatcmpl-2',
    time_to_first_token: 20,
    total_tokens: 1_500,
    cost: 0.00045,
  });
  t.strictSame(await streamColumns(found.request_id), { is_stream: true, truncated: false });

  const cut = await record(call({}, { body: sse(delta('He'), delta('ll')) }));
  t.match(cut.response_body, { choices: [{ message: { content: 'Hell' } }] });
  t.strictSame(await streamColumns(cut.request_id), { is_stream: true, truncated: true });
});

const named = (...events: Record<string, unknown>[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [] as unknown[],
  stop_reason: null as string | null,
  usage: { input_tokens: 1_000, cache_read_input_tokens: 0, output_tokens: 1 },
};
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  model: 'gpt-4o-mini-2024-07-18',
  status: 'in_progress',
  output: [],
};
const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }];
const usage = { input_tokens: 1_000, output_tokens: 500, total_tokens: 1_500 };
const TEXT = { object: 'text_completion', id: 'cmpl-1', model: 'gpt-3.5-turbo-instruct' };

/** Streams of the other dialects: what begins them, what ends them, and what they are put together. */
const DIALECTS: Record<string, { begun: string; ended: string; whole: object; cut: object }> = {
  completions: {
    begun: sse({ ...TEXT, choices: [{ index: 0, text: 'Hel' }] }),
    ended: sse(
      { ...TEXT, choices: [{ index: 0, text: 'lo', finish_reason: 'stop' }] },
      { ...TEXT, choices: [], usage: ANSWER.usage },
    ),
    whole: { ...TEXT, choices: [{ index: 0, text: 'Hello', finish_reason: 'stop' }], usage: ANSWER.usage },
    cut: { ...TEXT, choices: [{ index: 0, text: 'Hel', finish_reason: null }] },
  },
  responses: {
    begun: named(
      { type: 'response.created', response: RESPONSE },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hel' },
    ),
    ended: named({
      type: 'response.completed',
      response: { ...RESPONSE, status: 'completed', output, usage },
    }),
    whole: { ...RESPONSE, status: 'completed', output, usage },
    cut: { ...RESPONSE, output: [{ content: [{ text: 'Hel' }] }] },
  },
  messages: {
    begun: named(
      { type: 'message_start', message: MESSAGE },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
    ),
    ended: named(
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 500 } },
      { type: 'message_stop' },
    ),
    whole: {
      ...MESSAGE,
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage: { ...MESSAGE.usage, output_tokens: 500 },
    },
    cut: { ...MESSAGE, content: [{ type: 'text', text: 'Hel' }] },
  },
};

for (const [dialect, { begun, ended, whole, cut }] of Object.entries(DIALECTS)) {
  t.test(
    `a logged event stream of ${dialect} is assembled, and marked as truncated if it broke off`,
    async (t) => {
      const found = await record(call({}, { body: `${begun}${ended}` }));
      t.match(found, {
        response_body: whole,
        response_id: (whole as { id: string }).id,
        response_model: (whole as { model: string }).model,
        prompt_tokens: 1_000,
        completion_tokens: 500,
        total_tokens: 1_500,
      });
      t.strictSame(await streamColumns(found.request_id), { is_stream: true, truncated: false });
      const broken = await record(call({}, { body: begun }));
      t.match(broken.response_body, cut);
      t.strictSame(await streamColumns(broken.request_id), { is_stream: true, truncated: true });
      const error = { type: 'overloaded_error', message: 'Overloaded' };
      const failed = await record(call({}, { body: begun + named({ type: 'error', error }) }));
      t.match(failed.response_body, { ...cut, error });
      t.strictSame(await streamColumns(failed.request_id), { is_stream: true, truncated: true });
    },
  );
}

t.test('an id of 64 bits in the input of a streamed tool call keeps its digits', async (t) => {
  const body = named(
    { type: 'message_start', message: MESSAGE },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"id":12345678' },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '901234567890}' },
    },
    { type: 'message_stop' },
  );
  const id = await logged(call({}, { body }));
  await ingest();
  t.match((await api.call(`/v1/request/${id}`)).text, '"input":{"id":12345678901234567890}');
});

t.test('a logged response text that is neither JSON nor a known stream is kept unchanged', async (t) => {
  const TEXTS = [
    // An event of Messages whose delta has no type cannot be assembled.
    `event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"Hi"}}\n\n`,
    `event: update\ndata: {"id":"x","text":"of a dialect that nobody knows"}\n\n`,
    'data: [DONE]\n\n',
    '<html>502 Bad Gateway</html>',
    '[1,2]',
    'NUL \u0000 and a face 😀',
  ];
  for (const text of TEXTS) {
    const found = await record(call({}, { body: text, status: 502 }));
    t.strictSame([found.response_body, found.response_status], [{ text }, 502]);
    t.strictSame(await streamColumns(found.request_id), { is_stream: false, truncated: false });
  }
  t.match(await record(call({}, { body: JSON.stringify(ANSWER) })), { response_body: ANSWER, cost: 0.00045 });
  t.strictSame((await record(call({}, { body: '' }))).response_body, {});
});
