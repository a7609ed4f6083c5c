/** What is read of an assembled answer, whichever dialect it is in: its usage, its text, and what may be kept without it. */
import t from 'tap';
import { answerSkeleton, assembleStream, readUsage } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { readSubject } from '#core/scoring/mod.ts';
import { plain, sse, type Told, typed } from '../../../support/chat/streams.ts';

/** In every text of the answers, so that none can hide. */
const SAID = 'SECRET';
const TOOL_INPUT = JSON.stringify({ city: SAID });

const chat: Told[] = [
  plain({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [] }),
  plain({
    choices: [{ index: 0, delta: { role: 'assistant', content: `${SAID} ` }, logprobs: { content: [SAID] } }],
  }),
  plain({
    choices: [{ index: 0, delta: { content: 'chat', reasoning_content: SAID }, finish_reason: 'stop' }],
  }),
  plain({
    choices: [],
    service_tier: 'default',
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }),
];
const completions: Told[] = [
  plain({
    id: 'c1',
    object: 'text_completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, text: `${SAID} ` }],
  }),
  plain({ choices: [{ index: 0, text: 'completion', logprobs: { tokens: [SAID] }, finish_reason: 'stop' }] }),
  plain({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
];
const text = (said: string) => ({ type: 'output_text', text: said, annotations: [] });
const RESPONSE = {
  id: 'c1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  error: null,
  service_tier: 'default',
  instructions: SAID,
  tools: [{ type: 'function', name: 'f', description: SAID }],
  output: [
    { type: 'reasoning', summary: [{ type: 'summary_text', text: SAID }] },
    { type: 'function_call', name: 'f', arguments: TOOL_INPUT },
    { type: 'message', role: 'assistant', content: [text(`${SAID} response`)] },
  ],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
};
const responses = [typed({ type: 'response.completed', response: RESPONSE })];
const messages = [
  {
    type: 'message_start',
    message: {
      id: 'c1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage: { input_tokens: 10 },
    },
  },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'thinking', thinking: SAID, signature: SAID },
  },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: SAID } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: ' message' } },
  {
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'citations_delta', citation: { cited_text: SAID } },
  },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
  },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: TOOL_INPUT } },
  {
    type: 'message_delta',
    delta: { stop_reason: 'stop_sequence', stop_sequence: SAID, stop_details: { explanation: SAID } },
    usage: { output_tokens: 5 },
  },
].map(typed);

const STREAMS: Record<string, { events: Told[]; said: string; kept: JsonObject }> = {
  chat: {
    events: chat,
    said: `${SAID} chat`,
    kept: { object: 'chat.completion', created: 1, service_tier: 'default' },
  },
  completions: {
    events: completions,
    said: `${SAID} completion`,
    kept: { object: 'text_completion', created: 1 },
  },
  responses: {
    events: responses,
    said: `${SAID} response`,
    kept: { object: 'response', created_at: 1, service_tier: 'default' },
  },
  messages: { events: messages, said: `${SAID} message`, kept: { type: 'message' } },
};

for (const [dialect, { events, said, kept }] of Object.entries(STREAMS)) {
  const { completion, ...assembled } = assembleStream(sse(events));

  t.test(`${dialect}: the usage of an assembled stream is read`, async (t) => {
    t.match(assembled, { dialect, complete: true });
    t.match(readUsage(completion), { promptTokens: 10, completionTokens: 5, totalTokens: 15 });
  });

  t.test(`${dialect}: answerSkeleton keeps id, model and usage, and none of the text`, async (t) => {
    const skeleton = answerSkeleton(completion);
    t.notOk(JSON.stringify(skeleton).includes(SAID));
    t.strictSame({ ...skeleton }, { ...kept, id: 'c1', model: 'm', usage: completion.usage });
    t.same(readUsage(skeleton), readUsage(completion));
  });

  t.test(`${dialect}: evaluators read the text of an assembled stream`, async (t) => {
    t.equal(outputOf(completion), said);
  });
}

function outputOf(completion: JsonObject): unknown {
  const subject = readSubject({
    requestId: '01',
    requestText: '{"prompt":"Hi"}',
    responseText: JSON.stringify(completion),
    status: 200,
    truncated: false,
    errorCode: null,
    inputs: null,
    properties: null,
    model: 'm',
  });
  return 'output' in subject ? subject.output : subject;
}

t.test('evaluators read the tool call of an answer without text', async (t) => {
  const called = `f(${TOOL_INPUT})`;
  const [, call] = RESPONSE.output;
  const response = typed({ type: 'response.completed', response: { ...RESPONSE, output: [call] } });
  t.equal(outputOf(assembleStream(sse([response])).completion), called);
  const tool = messages.filter(
    ({ data }) => (data as JsonObject).index !== 0 && (data as JsonObject).index !== 1,
  );
  t.equal(outputOf(assembleStream(sse(tool)).completion), called);
});

t.test(
  'evaluators read the refusal of a response, and skip a failed response as an error of the provider',
  async (t) => {
    const content = [{ type: 'refusal', refusal: 'No' }];
    const refused = { ...RESPONSE, output: [{ type: 'message', role: 'assistant', content }] };
    t.equal(
      outputOf(assembleStream(sse([typed({ type: 'response.completed', response: refused })])).completion),
      'No',
    );
    const failed = {
      ...RESPONSE,
      status: 'failed',
      error: { code: 'server_error', message: 'x' },
      output: [],
    };
    t.match(
      outputOf(assembleStream(sse([typed({ type: 'response.failed', response: failed })])).completion),
      {
        skipped: 'upstream_error',
      },
    );
  },
);

t.test('answerSkeleton of a body that is no object is empty', async (t) => {
  for (const answer of [null, 'x', [1], 7]) t.strictSame(answerSkeleton(answer), {});
});
