import fc from 'fast-check';
import t from 'tap';
import { assembleStream, readUsage } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { RESPONSE, response } from '../../../support/chat/responses-stream.ts';
import { framing, reframe, sameJson, sse, type Told, typed } from '../../../support/chat/streams.ts';

const CREATED = { type: 'response.created', response: RESPONSE };
const assemble = (...events: JsonObject[]) => assembleStream(sse(events.map(typed)));
const typeOf = ({ data }: Told) => (data as JsonObject).type as string;
const inTurns = fc.array(fc.nat(5), { maxLength: 12 });

t.test('the answer is that of the last event', async () => {
  fc.assert(
    fc.property(response(inTurns), framing, ({ answer, events }, frame) => {
      const { completion, complete, dialect } = assembleStream(reframe(sse(events), frame));
      sameJson(completion, answer);
      sameJson([complete, dialect], [true, 'responses']);
    }),
    { numRuns: 200 },
  );
});

t.test("the last event's answer wins over different items of earlier events", async () => {
  const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Draft' }] };
  const answer = { ...RESPONSE, status: 'completed', output: [{ ...item, id: 'm', content: [] }] };
  const done = { type: 'response.output_item.done', output_index: 0, item };
  sameJson(assemble(CREATED, done, { type: 'response.completed', response: answer }).completion, answer);
});

t.test('a response without its last event is assembled from its finished items', async () => {
  fc.assert(
    fc.property(response(inTurns), ({ answer, events }) => {
      const { completion, complete } = assembleStream(sse(events.slice(0, -1)));
      sameJson(completion, { ...RESPONSE, output: answer.output });
      sameJson(complete, false);
    }),
    { numRuns: 300 },
  );
});

t.test('a response without finished items is assembled from its deltas', async () => {
  fc.assert(
    fc.property(response(inTurns), ({ answer, events }) => {
      const deltas = events.slice(0, -1).filter((told) => !/\.done$|_call\./.test(typeOf(told)));
      const output = answer.output.map((item) => ({ ...item, status: 'in_progress' }));
      sameJson(assembleStream(sse(deltas)).completion, { ...RESPONSE, output });
    }),
    { numRuns: 500 },
  );
});

t.test('a response whose parts were never added is assembled from its deltas', async () => {
  fc.assert(
    fc.property(response(inTurns), ({ answer, events }) => {
      const texts = events.filter((told) => /\.delta$|^response\.created$/.test(typeOf(told)));
      const wanted = answer.output
        .map((item) => textsOf({ output: [item] }).join(''))
        .filter((text) => text !== '');
      const { output } = assembleStream(sse(texts)).completion as { output: JsonObject[] };
      sameJson(
        output.map((item) => textsOf({ output: [item] }).join('')).filter((text) => text !== ''),
        wanted,
      );
    }),
    { numRuns: 300 },
  );
});

/** Every text of an output, in order. */
function textsOf(answer: JsonObject): string[] {
  return (answer.output as JsonObject[]).flatMap(({ content, summary, arguments: args, input, code }) => [
    ...[content, summary].flatMap((parts) =>
      ((parts ?? []) as JsonObject[]).map(({ text, refusal }) => `${text ?? refusal ?? ''}`),
    ),
    `${args ?? input ?? code ?? ''}`,
  ]);
}

t.test('an incomplete response keeps its usage and the reason', async (t) => {
  const usage = {
    input_tokens: 36,
    input_tokens_details: { cached_tokens: 12 },
    output_tokens: 87,
    output_tokens_details: { reasoning_tokens: 64 },
    total_tokens: 123,
  };
  const incomplete_details = { reason: 'max_output_tokens' };
  const { completion, complete } = assemble(CREATED, {
    type: 'response.incomplete',
    response: { ...RESPONSE, status: 'incomplete', incomplete_details, usage },
  });
  t.equal(complete, true);
  t.match(completion, { status: 'incomplete', incomplete_details });
  t.match(readUsage(completion), {
    promptTokens: 36,
    cachedTokens: 12,
    completionTokens: 87,
    reasoningTokens: 64,
    totalTokens: 123,
  });
});

const QUOTA = { code: 'insufficient_quota', message: 'You exceeded your current quota' };

t.test('a failed response has its error and the output received before', async (t) => {
  const failed = { ...RESPONSE, status: 'failed', error: QUOTA };
  const error = { type: 'insufficient_quota', param: null, ...QUOTA };
  const nothing = assemble(CREATED, { type: 'error', error }, { type: 'response.failed', response: failed });
  t.equal(nothing.complete, true);
  sameJson(nothing.completion, failed);
  const late = assemble(
    CREATED,
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'He' },
    {
      type: 'response.failed',
      response: failed,
    },
  );
  t.equal(late.complete, true);
  sameJson(late.completion, {
    ...failed,
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'He' }] }],
  });
});

t.test('an error that ends the stream is kept, in each of its forms', async (t) => {
  const flat = { type: 'error', code: 'server_error', message: 'Broken', param: null, sequence_number: 3 };
  const wanted = { code: 'server_error', message: 'Broken', param: null };
  for (const data of [flat, { type: 'error', error: wanted, sequence_number: 3 }, { error: wanted }]) {
    const { completion, complete } = assembleStream(
      sse([typed(CREATED), { name: 'error', data }]) + sse([{ name: null, data: { type: 'keepalive' } }]),
    );
    t.equal(complete, false);
    sameJson(completion, { ...RESPONSE, error: wanted });
  }
  const unnamed = assembleStream(sse([typed(CREATED), { name: null, data: { error: wanted } }]));
  sameJson(unnamed.completion.error, wanted);
});

t.test('members that the last event leaves out are taken from earlier events', async (t) => {
  const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] };
  const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 };
  const { completion, complete } = assemble(
    CREATED,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } },
  );
  t.equal(complete, true);
  sameJson(completion, { ...RESPONSE, id: 'resp_1', status: 'completed', output: [item], usage });
  t.equal(assemble(CREATED, { type: 'response.completed' }).complete, true);
});

t.test('events after the last one are ignored', async (t) => {
  const completed = { ...RESPONSE, status: 'completed' };
  const late = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'late' };
  const { completion } = assemble(
    CREATED,
    { type: 'response.completed', response: completed },
    late,
    CREATED,
  );
  sameJson(completion, completed);
  t.equal(
    assembleStream(`${sse([typed(CREATED)])}data: [DONE]\n\n`).complete,
    false,
    '[DONE] is no end of it',
  );
});
