/** The `openai` package: what it gets when something goes wrong, and what the log keeps of it. */
import OpenAI from 'openai';
import type { Test } from 'tap';
import { checkAborts } from './aborts.ts';
import { openAiScript } from './models/openai.ts';
import { ANSWER, ask, CHAT, clientOf, errorOf } from './openai-client.ts';
import { CHAT_PLACE, checkFailure } from './records.ts';
import type { World } from './world.ts';

type ErrorCase = [status: number, type: new (...given: never[]) => Error, code: string | null];

const PROVIDER_ERRORS: ErrorCase[] = [
  [400, OpenAI.BadRequestError, null],
  [401, OpenAI.AuthenticationError, 'invalid_api_key'],
  [403, OpenAI.PermissionDeniedError, 'unsupported_country_region_territory'],
  [404, OpenAI.NotFoundError, 'model_not_found'],
  [422, OpenAI.UnprocessableEntityError, null],
  [429, OpenAI.RateLimitError, 'rate_limit_exceeded'],
  [500, OpenAI.InternalServerError, null],
  [503, OpenAI.InternalServerError, null],
];

export async function providerErrors(t: Test, world: World): Promise<void> {
  const check = async ([status, type, code]: (typeof PROVIDER_ERRORS)[number]) => {
    const { headers, logged } = world.newCase(`openai error ${status}`);
    const error = await errorOf(clientOf(world, headers).chat.completions.create(ask(`/status ${status}`)));
    t.type(error, type, `${status} is a ${type.name}`);
    t.match(error, { status, code });
    t.match(error.message, `Scripted failure with status ${status}`);
    if (status === 429) t.equal(error.headers?.get('retry-after'), '1');
    const [record] = await logged(1);
    checkFailure(t, record, status);
  };
  await Promise.all(PROVIDER_ERRORS.map(check));
}

/** A page instead of JSON, and connections that break: errors that the package understands, with the record. */
export async function brokenProvider(t: Test, world: World): Promise<void> {
  const broken = [
    ['/html 502', 502],
    ['/html 404', 404],
    ['/cut headers', 502],
    ['/cut body', 502],
  ] as const;
  for (const [directive, status] of broken) {
    const { headers, logged } = world.newCase(`openai ${directive}`);
    const error = await errorOf(clientOf(world, headers).chat.completions.create(ask(directive)));
    t.match(error, { status }, directive);
    t.type(error.error, 'object', 'with an error object of OpenAI’s shape');
    t.match(await logged(1), [{ response_status: status }]);
  }
}

export async function brokenStream(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai cut stream');
  const body = { ...ask('/cut stream'), stream: true } as const;
  let text = '';
  const read = async () => {
    for await (const chunk of await clientOf(world, headers).chat.completions.create(body)) {
      text += chunk.choices[0]?.delta.content ?? '';
    }
  };
  await errorOf(read());
  t.equal(text, 'You said: /cut stream', 'what came before the cut arrives');
  const [record] = await logged(1);
  t.equal(record?.response_body.choices?.[0]?.message.content, text, 'and is in the log');
  t.match(record?.delivery, { truncated: true, error_code: 'provider_unreachable' });
}

export async function gatewayErrors(t: Test, world: World): Promise<void> {
  const wrongKey = await errorOf(
    clientOf(world, {}, { apiKey: 'sk-assay-unknown' }).chat.completions.create(CHAT),
  );
  t.type(wrongKey, OpenAI.AuthenticationError);
  t.match(wrongKey, { status: 401, code: 'invalid_api_key', type: 'invalid_request_error' });

  const client = clientOf(world, {});
  const unknownModel = await errorOf(client.chat.completions.create({ ...CHAT, model: 'no-such-model' }));
  t.type(unknownModel, OpenAI.NotFoundError);
  t.match(unknownModel, { status: 404, code: 'model_not_found' });

  const noMessages = { model: 42 } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
  t.type(await errorOf(client.chat.completions.create(noMessages)), OpenAI.BadRequestError);

  const nobodyListens = new OpenAI({ baseURL: 'http://127.0.0.1:1/v1', apiKey: 'none', maxRetries: 0 });
  t.type(await errorOf(nobodyListens.chat.completions.create(CHAT)), OpenAI.APIConnectionError);
}

/** The package tries again by itself: each try is a call, and a record. */
export async function retries(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai retries');
  let tries = 0;
  world.provider.script(() => {
    tries += 1;
    return tries < 3 ? { kind: 'error', status: 503 } : { kind: 'answer' };
  });
  try {
    const completion = await clientOf(world, headers, { maxRetries: 2 }).chat.completions.create(CHAT);
    t.equal(completion.choices[0]?.message.content, ANSWER);
  } finally {
    world.provider.script(openAiScript);
  }
  t.match(await logged(3), [{ response_status: 503 }, { response_status: 503 }, { response_status: 200 }]);
}

export async function abort(t: Test, world: World): Promise<void> {
  await checkAborts(t, world, {
    name: 'openai',
    provider: world.provider,
    path: CHAT_PLACE.path,
    isAbortError: (error) => error instanceof OpenAI.APIUserAbortError,
    call: async (question, { headers, stream, signal, onPiece }) => {
      const answer = await clientOf(world, headers).chat.completions.create(
        { ...ask(question), stream },
        { signal },
      );
      if (Symbol.asyncIterator in answer) for await (const _ of answer) onPiece();
    },
  });
}
