/** The `openai` package beyond chat completions, when something goes wrong; and lists of models and retries. */
import OpenAI from 'openai';
import type { Test } from 'tap';
import type { Script } from '../../support/scripted-provider.ts';
import { checkAborts } from './aborts.ts';
import { ANSWER, ask, CHAT, clientOf, errorOf, QUESTION } from './openai-client.ts';
import {
  CHAT_PLACE,
  CLAUDE,
  checkFailure,
  checkTokens,
  EMBEDDER,
  EMBEDDINGS_PLACE,
  MODEL,
  RESPONSES_PLACE,
} from './records.ts';
import type { World } from './world.ts';

const STATUSES: [status: number, type: new (...given: never[]) => Error][] = [
  [400, OpenAI.BadRequestError],
  [401, OpenAI.AuthenticationError],
  [404, OpenAI.NotFoundError],
  [429, OpenAI.RateLimitError],
  [500, OpenAI.InternalServerError],
];

export async function errors(t: Test, world: World): Promise<void> {
  const check = async ([status, type]: (typeof STATUSES)[number]) => {
    const { headers, logged } = world.newCase(`openai surfaces error ${status}`);
    const client = clientOf(world, headers);
    const input = `/status ${status}`;
    const calls = [
      () => client.responses.create({ model: MODEL, input }),
      () => client.embeddings.create({ model: EMBEDDER, input }),
    ];
    for (const call of calls) {
      const error = await errorOf(call());
      t.type(error, type, `${status} is a ${type.name}`);
      t.match(error, { status, message: /Scripted failure with status/ });
    }
    const records = await logged(2);
    const byPath = (path: string) => records.find(({ request_path }) => request_path === path);
    checkFailure(t, byPath(RESPONSES_PLACE.path), status, RESPONSES_PLACE);
    checkFailure(t, byPath(EMBEDDINGS_PLACE.path), status, EMBEDDINGS_PLACE);
  };
  await Promise.all(STATUSES.map(check));
}

export async function brokenStream(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai responses cut stream');
  let text = '';
  const read = async () => {
    const asked = { model: MODEL, input: '/cut stream', stream: true } as const;
    for await (const event of await clientOf(world, headers).responses.create(asked)) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
  };
  t.match(await errorOf(read()), { message: /closed the connection/ });
  t.equal(text, 'You said: /cut stream', 'what came before the cut arrives');
  t.match(await logged(1), [
    {
      response_body: { output: [{ content: [{ text }] }] },
      delivery: { truncated: true, error_code: 'provider_unreachable' },
    },
  ]);
}

/** A model that fails after it has begun: its record is of a failure, and no later call is answered with it. */
export async function failedStream(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai failed stream');
  const client = clientOf(world, { ...headers, 'Service-Cache-Enabled': 'true' });
  for (let round = 1; round <= 2; round += 1) {
    const response = await client.responses.stream({ model: MODEL, input: '/fail' }).finalResponse();
    t.match(response, { status: 'failed', error: { code: 'server_error', message: 'The model failed' } });
    const chat = client.chat.completions.stream(ask('/fail')).finalChatCompletion();
    t.match(await errorOf(chat), { message: 'The model failed', code: 'server_error' });
    for (const record of await logged(2 * round)) {
      const path = record.request_path;
      t.match(record, { response_status: 500, delivery: { truncated: true } }, `${path}, round ${round}`);
      t.equal(record.delivery.attempts.length, 1, `${path}, round ${round}: the provider was asked`);
    }
  }
}

/** A provider that lacks an endpoint is not called. */
export async function notSupported(t: Test, world: World): Promise<void> {
  const before = world.anthropic.requests.length;
  const error = await errorOf(clientOf(world, {}).responses.create({ model: CLAUDE, input: QUESTION }));
  t.type(error, OpenAI.NotFoundError);
  t.match(error, { code: 'endpoint_not_supported' });
  t.equal(world.anthropic.requests.length, before);
}

export async function abort(t: Test, world: World): Promise<void> {
  await checkAborts(t, world, {
    name: 'openai responses',
    provider: world.provider,
    path: RESPONSES_PLACE.path,
    isAbortError: (error) => error instanceof OpenAI.APIUserAbortError,
    call: async (input, { headers, stream, signal, onPiece }) => {
      const { responses } = clientOf(world, headers);
      const answer = await responses.create({ model: MODEL, input, stream }, { signal });
      if (Symbol.asyncIterator in answer) for await (const _ of answer) onPiece();
    },
  });
}

/** While `run` runs, the custom provider does this. */
async function withCustom(world: World, script: Script, run: () => Promise<void>): Promise<void> {
  world.custom.script(script);
  try {
    await run();
  } finally {
    world.custom.script(null);
  }
}

/** The next model of a list answers, of whichever maker, and the header says which it was. */
export async function fallback(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai fallback');
  const client = clientOf(world, headers);
  const failing: Script = () => ({ kind: 'error', status: 503 });
  await withCustom(world, failing, async () => {
    for (const [index, model] of ([MODEL, CLAUDE] as const).entries()) {
      const asked = { ...CHAT, model: `custom/first,${model}` };
      const { data, response } = await client.chat.completions.create(asked).withResponse();
      t.equal(data.choices[0]?.message.content, ANSWER);
      t.equal(response.headers.get('service-fallback-index'), '1');
      const provider = model === CLAUDE ? 'ANTHROPIC' : 'OPENAI';
      const record = (await logged(index + 1))[index];
      const { prompt_tokens: prompt, completion_tokens: completion } = data.usage ?? {};
      checkTokens(t, record, { prompt, completion }, { ...CHAT_PLACE, provider, model });
      t.match(record, {
        request_model: asked.model,
        delivery: {
          attempts: [
            { provider: 'CUSTOM', model: 'first', status: 503 },
            { provider, model, status: 200 },
          ],
        },
      });
    }
  });
}

/** When nobody of a list answers, the client gets what the last one said. */
export async function fallbackFailed(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai fallback failed');
  const statuses = [503, 429];
  const failing: Script = () => ({ kind: 'error', status: statuses.shift() ?? 500 });
  await withCustom(world, failing, async () => {
    const asked = { ...CHAT, model: 'custom/first,custom/second' };
    const error = await errorOf(clientOf(world, headers).chat.completions.create(asked));
    t.type(error, OpenAI.RateLimitError);
    t.equal(error.headers?.get('service-fallback-index'), '1');
  });
  t.match(await logged(1), [
    { response_status: 429, delivery: { attempts: [{ status: 503 }, { status: 429 }] } },
  ]);
}

/** The gateway tries again when the call asks for it: one call, one record, with all its tries. */
export async function retries(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai gateway retries');
  const retry = { ...headers, 'Service-Retry-Enabled': 'true', 'Service-Retry-Num': '2' };
  let tries = 0;
  const flaky: Script = () => {
    tries += 1;
    return tries < 3 ? { kind: 'error', status: 503 } : { kind: 'answer' };
  };
  await withCustom(world, flaky, async () => {
    const asked = { ...CHAT, model: 'custom/flaky' };
    const completion = await clientOf(world, retry).chat.completions.create(asked);
    t.equal(completion.choices[0]?.message.content, ANSWER);
  });
  t.match(await logged(1), [
    { response_status: 200, delivery: { attempts: [{ status: 503 }, { status: 503 }, { status: 200 }] } },
  ]);
}
