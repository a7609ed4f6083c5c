/** Streams, complete or broken off, are assembled to the same responses as by OpenAI's own client. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import OpenAI from 'openai';
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import { response } from '../../../support/chat/responses-stream.ts';
import {
  cut,
  interleave,
  jsonPieces,
  pieces,
  places,
  plain,
  sameJson,
  sse,
} from '../../../support/chat/streams.ts';

const MESSAGES = [{ role: 'user' as const, content: 'Hi' }];

/** The pieces that the next answer is written in. */
let written: string[] = [];
const server = createServer((request, answer) => {
  request.resume();
  answer.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of written) answer.write(Buffer.from(piece, 'latin1'));
  answer.end();
});

let client: OpenAI;
t.before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = new OpenAI({ apiKey: 'sk-x', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
});
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});

/** Bytes are cut, not characters. */
function write(text: string, at: readonly number[]): void {
  written = cut(Buffer.from(text).toString('latin1'), at);
}

/** Returns the response without the members that the client adds for its users. */
function withoutAdded(answer: unknown): unknown {
  const added = new Set(['output_text', 'output_parsed', 'parsed', 'parsed_arguments']);
  const text = JSON.stringify(answer, (name, value: unknown) => (added.has(name) ? undefined : value));
  return JSON.parse(text);
}

t.test("a Responses stream is assembled as OpenAI's SDK does", async () => {
  await fc.assert(
    fc.asyncProperty(response(fc.constant([])), fc.nat(), places, async ({ events }, end, at) => {
      const text = sse(events.slice(0, 1 + (end % events.length)));
      write(text, at);
      const answer = await client.responses.stream({ model: 'm', input: 'Hi' }).finalResponse();
      sameJson(assembleStream(text).completion, withoutAdded(answer));
    }),
    { numRuns: 200 },
  );
});

const HEAD = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  system_fingerprint: 'fp',
};
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const chunk = (index: number, delta: object, finish_reason: string | null = null) =>
  plain({ ...HEAD, choices: [{ index, delta, logprobs: null, finish_reason }] });

/** The deltas of one choice: text, a refusal, calls of functions and of custom tools. */
const deltas = fc
  .tuple(pieces, pieces, fc.array(jsonPieces, { maxLength: 3 }), fc.boolean())
  .map(([content, refusal, calls, isCustom]) => [
    { role: 'assistant', content: '', refusal: null },
    ...content.deltas.map((text) => ({ content: text })),
    ...refusal.deltas.filter((text) => text !== '').map((text) => ({ refusal: text })),
    ...calls.flatMap((call, index) => {
      const told = (input: string, more: object = {}) =>
        isCustom ? { custom: { ...more, input } } : { function: { ...more, arguments: input } };
      const type = isCustom ? 'custom' : 'function';
      return [
        { tool_calls: [{ index, id: `call_${index}`, type, ...told('', { name: 'f' }) }] },
        ...call.deltas.map((piece) => ({ tool_calls: [{ index, ...told(piece) }] })),
      ];
    }),
  ]);

t.test("a chat completion stream is assembled as OpenAI's SDK does", async () => {
  const choices = fc.array(deltas, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(choices, fc.array(fc.nat(9)), places, async (told, turns, at) => {
      const events = told.map((of, index) => [
        ...of.map((delta) => chunk(index, delta)),
        chunk(index, {}, 'stop'),
      ]);
      const text = sse([
        ...interleave(events, turns),
        plain({ ...HEAD, choices: [], usage }),
        plain('[DONE]'),
      ]);
      write(text, at);
      const stream = client.chat.completions.stream({ model: 'm', messages: MESSAGES });
      const answer = withoutAdded(await stream.finalChatCompletion()) as { choices: { index: number }[] };
      answer.choices.sort((a, b) => a.index - b.index);
      sameJson(withNulls(assembleStream(text).completion), answer);
    }),
    { numRuns: 200 },
  );
});

/** Adds null for members that no chunk had, as the client does. */
function withNulls(completion: unknown): unknown {
  const { choices, ...head } = completion as { choices: { message: object }[] };
  return {
    ...head,
    choices: choices.map((choice) => ({
      logprobs: null,
      ...choice,
      message: { refusal: null, ...choice.message },
    })),
  };
}

t.test('the audio of a chat completion stream is assembled from its pieces', async () => {
  const parts = fc.tuple(pieces, pieces);
  await fc.assert(
    fc.asyncProperty(parts, places, async ([data, transcript], at) => {
      const audio = (of: object) => chunk(0, { audio: of });
      const text = sse([
        chunk(0, { role: 'assistant', audio: { id: 'audio_1', transcript: '' } }),
        ...transcript.deltas.map((piece) => audio({ transcript: piece })),
        audio({ data: '' }),
        ...data.deltas.map((piece) => audio({ data: piece })),
        audio({ expires_at: 1_729_234_747 }),
        chunk(0, {}, 'stop'),
      ]);
      write(text, at);
      const stream = client.chat.completions.stream({ model: 'm', messages: MESSAGES });
      sameJson(withNulls(assembleStream(text).completion), withoutAdded(await stream.finalChatCompletion()));
    }),
    { numRuns: 100 },
  );
});
