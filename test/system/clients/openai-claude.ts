/** The `openai` package's chat completions, answered by a model of Anthropic's. */
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import type { Test } from 'tap';
import { z } from 'zod';
import { countTokens } from '../../support/scripted-provider.ts';
import { checkAborts } from './aborts.ts';
import type { Query } from './models/asked.ts';
import { ANSWER, ask, clientOf, QUESTION } from './openai-client.ts';
import { CHAT_PLACE, CLAUDE, checkFailure, checkTokens, type Place } from './records.ts';
import { collect, type World } from './world.ts';

const QUERY = z.object({ query: z.string() });
const PLACE: Place = { ...CHAT_PLACE, provider: 'ANTHROPIC', model: CLAUDE };

/** What the scripted model counts. */
const COUNTED = { prompt: countTokens(QUESTION), completion: countTokens(ANSWER) };

function askClaude(content: string) {
  return { ...ask(content), model: CLAUDE };
}

function usageOf(usage: OpenAI.CompletionUsage | null | undefined) {
  return { prompt: usage?.prompt_tokens, completion: usage?.completion_tokens };
}

export async function plain(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai claude plain');
  const completion = await clientOf(world, headers).chat.completions.create(askClaude(QUESTION));
  t.match(completion, { object: 'chat.completion', choices: [{ message: { content: ANSWER } }] });
  t.equal(completion.choices[0]?.finish_reason, 'stop');
  t.same(usageOf(completion.usage), COUNTED);
  const [record] = await logged(1);
  checkTokens(t, record, usageOf(completion.usage), PLACE);
  t.match(record?.response_body, { object: 'chat.completion', id: completion.id });
}

export async function stream(t: Test, world: World): Promise<void> {
  for (const includesUsage of [false, true]) {
    const { headers, logged } = world.newCase(`openai claude stream ${includesUsage}`);
    const options = includesUsage ? { stream_options: { include_usage: true } } : {};
    const asked = { ...askClaude(QUESTION), ...options, stream: true } as const;
    const chunks = await collect(await clientOf(world, headers).chat.completions.create(asked));
    t.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), ANSWER);
    t.equal(chunks.filter(({ choices }) => choices.length === 0).length, includesUsage ? 1 : 0);
    if (includesUsage) t.same(usageOf(chunks.at(-1)?.usage), COUNTED);
    const [record] = await logged(1);
    checkTokens(t, record, COUNTED, PLACE);
    t.match(record, { response_body: { choices: [{ message: { content: ANSWER } }] } });
  }
}

/** The package runs the tool and asks again, plain and streamed. */
export async function runTools(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai claude tools');
  const heard: Query[] = [];
  const weather = zodFunction({
    name: 'get_weather',
    description: 'The weather somewhere',
    parameters: QUERY,
    function: (query) => {
      heard.push(query);
      return '21 °C';
    },
  });
  const { completions } = clientOf(world, headers).chat;
  const asked = { ...askClaude(QUESTION), tools: [weather] };
  t.equal(await completions.runTools(asked).finalContent(), 'The tool said: 21 °C');
  t.equal(await completions.runTools({ ...asked, stream: true }).finalContent(), 'The tool said: 21 °C');
  t.same(heard, [{ query: QUESTION }, { query: QUESTION }]);
  for (const record of await logged(4)) t.match(record, { provider: 'ANTHROPIC', response_status: 200 });
}

export async function parse(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai claude parse');
  const response_format = zodResponseFormat(QUERY, 'query');
  const asked = { ...askClaude(QUESTION), response_format };
  const completion = await clientOf(world, headers).chat.completions.parse(asked);
  t.same(completion.choices[0]?.message.parsed, { query: QUESTION });
  const [record] = await logged(1);
  checkTokens(t, record, usageOf(completion.usage), PLACE);
}

/** What Anthropic says, as OpenAI would have said it. */
export async function errors(t: Test, world: World): Promise<void> {
  for (const [status, type, name] of [
    [400, OpenAI.BadRequestError, 'invalid_request_error'],
    [401, OpenAI.AuthenticationError, 'authentication_error'],
    [429, OpenAI.RateLimitError, 'rate_limit_error'],
    [529, OpenAI.InternalServerError, 'overloaded_error'],
  ] as const) {
    const { headers, logged } = world.newCase(`openai claude error ${status}`);
    const error = await clientOf(world, headers)
      .chat.completions.create(askClaude(`/status ${status}`))
      .then(
        () => null,
        (thrown: unknown) => thrown,
      );
    t.type(error, type, `${status} is a ${type.name}`);
    t.match(error, { status, type: name, message: /Scripted failure with status/ });
    const [record] = await logged(1);
    checkFailure(t, record, status, PLACE);
  }
}

/** What came before the end arrives, then an error; and what Anthropic had counted by then is in the record. */
export async function brokenStreams(t: Test, world: World): Promise<void> {
  for (const question of ['/cut stream', '/fail']) {
    const { headers, logged } = world.newCase(`openai claude ${question}`);
    let text = '';
    const read = async () => {
      const asked = { ...askClaude(question), stream: true } as const;
      for await (const { choices } of await clientOf(world, headers).chat.completions.create(asked)) {
        text += choices[0]?.delta.content ?? '';
      }
    };
    await t.rejects(read(), { message: /closed the connection|Overloaded/ });
    t.equal(text, `You said: ${question}`);
    const [record] = await logged(1);
    t.match(record, { provider: 'ANTHROPIC', delivery: { truncated: true, stream: true } });
    t.ok((record?.prompt_tokens ?? 0) > 0, `${question}: the question is paid for`);
  }
}

export async function abort(t: Test, world: World): Promise<void> {
  await checkAborts(t, world, {
    name: 'openai claude',
    provider: world.anthropic,
    path: CHAT_PLACE.path,
    isAbortError: (error) => error instanceof OpenAI.APIUserAbortError,
    call: async (question, { headers, stream, signal, onPiece }) => {
      const { completions } = clientOf(world, headers).chat;
      const answer = await completions.create({ ...askClaude(question), stream }, { signal });
      if (Symbol.asyncIterator in answer) for await (const _ of answer) onPiece();
    },
  });
}
