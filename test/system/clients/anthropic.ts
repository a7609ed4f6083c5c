/** The `@anthropic-ai/sdk` package: what it gets when all goes well, from a model of Anthropic's and from one of OpenAI's. */
import type Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import type { Test } from 'tap';
import { ANSWER, ask, COUNTED, clientOf, PLACES, QUESTION, textOf, usageOf } from './anthropic-client.ts';
import { JSON_SCHEMA, type Query } from './models/asked.ts';
import { ANTHROPIC_KEY } from './models/messages.ts';
import { CLAUDE, checkTokens, MESSAGES_PLACE, MODEL } from './records.ts';
import { collect, type World } from './world.ts';

export async function plain(t: Test, world: World): Promise<void> {
  for (const place of PLACES) {
    const { headers, logged } = world.newCase(`anthropic plain ${place.provider}`);
    const asked = ask(QUESTION, place.model);
    const { data, response } = await clientOf(world, headers).messages.create(asked).withResponse();
    t.match(data, { type: 'message', role: 'assistant', model: asked.model, stop_reason: 'end_turn' });
    t.equal(textOf(data), ANSWER);
    t.match(data.usage, COUNTED);
    const [record] = await logged(1);
    checkTokens(t, record, usageOf(data), place);
    t.equal(record?.request_id, response.headers.get('service-request-id'));
    t.match(record?.request_body, asked, 'the log has what was asked, whoever answered');
    t.match(record?.response_body, { type: 'message', content: [{ text: ANSWER }] });
  }
}

/** What a model of Anthropic's hears is what was sent, with the operator's key. */
export async function passedThrough(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('anthropic passed through');
  const asked = { ...ask(QUESTION), betas: ['context-1m-2025-08-07'], user_profile_id: 'uprof_ada' };
  await clientOf(world, headers).beta.messages.create(asked);
  const sent = world.anthropic.requests.at(-1);
  t.equal(String(sent?.body), JSON.stringify(ask(QUESTION)));
  t.match(sent?.headers, {
    'x-api-key': ANTHROPIC_KEY,
    // The package's own, in place of the gateway's.
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'context-1m-2025-08-07',
    'anthropic-user-profile-id': 'uprof_ada',
    authorization: undefined,
    'service-property-case': undefined,
  });
  await logged(1);
}

/** The caller's own provider key goes through, its Assay key stays here. */
export async function ownProviderKey(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('anthropic own key');
  const serviceAuth = { ...headers, 'Service-Auth': `Bearer ${world.apiKey}` };
  await clientOf(world, serviceAuth, { apiKey: 'sk-ant-callers-own' }).messages.create(ask(QUESTION));
  const sent = world.anthropic.requests.at(-1);
  t.match(sent?.headers, { authorization: 'Bearer sk-ant-callers-own', 'x-api-key': undefined });
  t.notMatch(JSON.stringify(sent?.rawHeaders), world.apiKey);
  await logged(1);
}

export async function stream(t: Test, world: World): Promise<void> {
  for (const place of PLACES) {
    const { headers, logged } = world.newCase(`anthropic stream ${place.provider}`);
    const asked = { ...ask(QUESTION, place.model), stream: true } as const;
    const events = await collect(await clientOf(world, headers).messages.create(asked));
    const deltas = events.flatMap((event) => (event.type === 'content_block_delta' ? [event.delta] : []));
    t.equal(deltas.map((delta) => (delta.type === 'text_delta' ? delta.text : '')).join(''), ANSWER);
    t.ok(deltas.length > 3, 'in more than one piece');
    t.equal(events[0]?.type, 'message_start');
    t.equal(events.at(-1)?.type, 'message_stop');
    const [record] = await logged(1);
    const end = events.findLast((event) => event.type === 'message_delta');
    t.match(record, { completion_tokens: end?.usage.output_tokens, delivery: { stream: true } });
    t.match(record?.response_body, { type: 'message', content: [{ text: ANSWER }], stop_reason: 'end_turn' });
    t.type(record?.time_to_first_token, 'number');
  }
}

/** The package's own helper, which puts a stream together. */
export async function streamHelper(t: Test, world: World): Promise<void> {
  for (const place of PLACES) {
    const { headers, logged } = world.newCase(`anthropic stream helper ${place.provider}`);
    const told: string[] = [];
    const messages = clientOf(world, headers).messages.stream(ask(QUESTION, place.model));
    messages.on('text', (text) => told.push(text));
    const message = await messages.finalMessage();
    t.equal(told.join(''), ANSWER);
    t.equal(textOf(message), ANSWER);
    t.match(message.usage, COUNTED);
    const [record] = await logged(1);
    checkTokens(t, record, usageOf(message), place);
    t.match(record?.response_body, { id: message.id, content: [{ text: ANSWER }] });
  }
}

const TOOLS: Anthropic.Tool[] = [
  {
    name: 'get_weather',
    description: 'The weather somewhere',
    input_schema: { ...JSON_SCHEMA, required: ['query'] },
  },
];

export async function tools(t: Test, world: World): Promise<void> {
  for (const place of PLACES) {
    const { headers, logged } = world.newCase(`anthropic tools ${place.provider}`);
    const client = clientOf(world, headers);
    const asked = { ...ask(QUESTION, place.model), tools: TOOLS };
    const answers = [
      await client.messages.create(asked),
      await client.messages.stream(asked).finalMessage(),
      await client.messages.create({ ...asked, tool_choice: { type: 'tool', name: 'get_weather' } }),
    ];
    for (const { stop_reason, content } of answers) {
      t.equal(stop_reason, 'tool_use');
      t.match(content, [{ type: 'tool_use', id: /./, name: 'get_weather', input: { query: QUESTION } }]);
    }
    for (const record of await logged(3)) {
      t.match(record.response_body, { content: [{ type: 'tool_use', input: { query: QUESTION } }] });
    }
  }
}

function weatherTool(heard: Query[]) {
  return betaTool({
    name: 'get_weather',
    description: 'The weather somewhere',
    inputSchema: JSON_SCHEMA,
    run: (input) => {
      heard.push(input);
      return '21 °C';
    },
  });
}

/** The package runs the tool and asks again, plain and streamed: two calls, the second with the tool's result. */
export async function toolRunner(t: Test, world: World): Promise<void> {
  for (const place of PLACES) {
    for (const streams of [false, true]) {
      const { headers, logged } = world.newCase(`anthropic tool runner ${place.provider} ${streams}`);
      const heard: Query[] = [];
      const asked = {
        ...ask(QUESTION, place.model),
        tools: [weatherTool(heard)],
        thread: false as const,
        stream: streams,
      };
      const message = await clientOf(world, headers).beta.messages.toolRunner(asked).runUntilDone();
      t.same(heard, [{ query: QUESTION }]);
      t.match(message.content, [{ type: 'text', text: 'The tool said: 21 °C' }]);
      const records = await logged(2);
      t.match(records[1], { request_path: place.path, provider: place.provider });
      t.match(records[1]?.request_body.messages?.at(-1), {
        role: 'user',
        content: [{ type: 'tool_result', content: '21 °C' }],
      });
    }
  }
}

/**
 * By default the package leaves the conversation with the provider: the second call names the first answer, and brings
 * only what is new.
 */
export async function toolRunnerThread(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('anthropic thread');
  const asked = { ...ask(QUESTION), tools: [weatherTool([])] };
  const message = await clientOf(world, headers).beta.messages.toolRunner(asked).runUntilDone();
  t.match(message.content, [{ type: 'text', text: 'The tool said: 21 °C' }]);
  const [first, second] = await logged(2);
  t.match(second?.request_body, {
    thread: { type: 'continue', previous_message_id: first?.response_body.id },
    messages: [{ role: 'user', content: [{ type: 'tool_result' }] }],
  });
}

/** Where there are no threads, the package is told so in a way that lets it go on without. */
export async function toolRunnerWithoutThreads(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('anthropic no threads');
  const asked = { ...ask(QUESTION, MODEL), tools: [weatherTool([])] };
  const message = await clientOf(world, headers).beta.messages.toolRunner(asked).runUntilDone();
  t.match(message.content, [{ type: 'text', text: 'The tool said: 21 °C' }]);
  t.match(await logged(2), [
    { request_body: { thread: undefined } },
    { request_body: { thread: undefined } },
  ]);
}

export async function structured(t: Test, world: World): Promise<void> {
  for (const place of PLACES) {
    const { headers, logged } = world.newCase(`anthropic structured ${place.provider}`);
    const asked = {
      ...ask(QUESTION, place.model),
      output_config: { format: jsonSchemaOutputFormat(JSON_SCHEMA) },
    };
    const client = clientOf(world, headers);
    const message = await client.messages.parse(asked);
    t.same(message.parsed_output, { query: QUESTION });
    const streamed = await client.messages.stream(asked).finalMessage();
    t.same(streamed.parsed_output, { query: QUESTION });
    const [record] = await logged(2);
    checkTokens(t, record, usageOf(message), place);
  }
}

/** Free, and logged. */
export async function countTokens(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('anthropic count tokens');
  const { model, messages } = ask('How many?');
  t.same(await clientOf(world, headers).messages.countTokens({ model, messages }), { input_tokens: 3 });
  const path = `${MESSAGES_PLACE.path}/count_tokens`;
  t.match(await logged(1), [{ request_path: path, provider: 'ANTHROPIC', response_status: 200, cost: null }]);
}

/** All pages of ten hold what one page of all does, newest first; and each is found by its id. */
export async function models(t: Test, world: World): Promise<void> {
  const client = clientOf(world, {});
  const all = await client.models.list();
  t.notOk(all.hasNextPage());
  const paged = await collect(client.models.list({ limit: 10 }));
  t.same(paged, all.data);
  t.ok(all.data.length > 20, 'there are several pages');
  const released = all.data.map((model) => model.created_at);
  t.same(released, released.toSorted().reverse());
  const last = await client.models.list({ before_id: paged[10]?.id ?? '', limit: 4 });
  t.same(last.data, all.data.slice(6, 10));
  t.match(await client.models.retrieve(CLAUDE), { type: 'model', id: CLAUDE, display_name: /Haiku/ });
}
