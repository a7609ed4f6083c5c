/** The `ai` package with `@ai-sdk/openai` and `@ai-sdk/anthropic`: what it gets when something goes wrong. */
import { APICallError, embed, generateText, streamText } from 'ai';
import type { Test } from 'tap';
import { checkAborts } from './aborts.ts';
import { AI_MODELS, type AiModel, embedderOf } from './ai-models.ts';
import { openAiScript } from './models/openai.ts';
import { checkFailure, EMBEDDINGS_PLACE } from './records.ts';
import { collect, providerOf, type World } from './world.ts';

const LIMITS = { maxOutputTokens: 100, maxRetries: 0 };
const STATUSES = [400, 401, 429, 500];

/** What a call fails with. */
function failureOf(call: PromiseLike<unknown>): PromiseLike<unknown> {
  return call.then(
    () => new Error('The call should have failed'),
    (error: unknown) => error,
  );
}

function checkError(t: Test, error: unknown, status: number, name: string): void {
  t.ok(APICallError.isInstance(error), `${status} of ${name} is an APICallError`);
  t.match(error, {
    statusCode: status,
    message: `Scripted failure with status ${status}`,
    isRetryable: status === 429 || status >= 500,
  });
}

export async function errors(t: Test, world: World): Promise<void> {
  const check = async ({ name, place, model }: AiModel, status: number) => {
    const { headers, logged } = world.newCase(`ai ${name} error ${status}`);
    const asked = { model: model(world, headers), prompt: `/status ${status}`, ...LIMITS };
    checkError(t, await failureOf(generateText(asked)), status, name);
    const [record] = await logged(1);
    checkFailure(t, record, status, place);
  };
  await Promise.all(AI_MODELS.flatMap((model) => STATUSES.map((status) => check(model, status))));
}

export async function embeddingErrors(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('ai embeddings error');
  const model = embedderOf(world, headers);
  checkError(t, await failureOf(embed({ model, value: '/status 429', maxRetries: 0 })), 429, 'embeddings');
  const [record] = await logged(1);
  checkFailure(t, record, 429, EMBEDDINGS_PLACE);
}

/** The gateway's own errors are read as the provider's are. */
export async function gatewayErrors(t: Test, world: World): Promise<void> {
  for (const { name, model } of AI_MODELS) {
    const stranger = { ...world, apiKey: 'sk-assay-unknown' };
    const call = generateText({ model: model(stranger, {}), prompt: 'Hello', ...LIMITS });
    const error = await failureOf(call);
    t.ok(APICallError.isInstance(error), name);
    t.match(error, { statusCode: 401, message: /^Incorrect API key provided/, isRetryable: false }, name);
  }
}

/** The package tries again by itself what may pass, when the provider said: each try is a call, and a record. */
export async function retries(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('ai retries');
  let tries = 0;
  world.provider.script((request) => {
    tries += 1;
    const failure = { kind: 'error', status: 503, headers: { 'retry-after-ms': '20' } } as const;
    return tries < 3 ? failure : openAiScript(request);
  });
  try {
    const [{ model }] = AI_MODELS as [AiModel];
    const { text } = await generateText({
      model: model(world, headers),
      prompt: 'Hello',
      ...LIMITS,
      maxRetries: 2,
    });
    t.equal(text, 'You said: Hello');
  } finally {
    world.provider.script(openAiScript);
  }
  t.match(await logged(3), [{ response_status: 503 }, { response_status: 503 }, { response_status: 200 }]);
}

type Ending = [question: string, errorCode: string | null, told: RegExp];

/** A connection that breaks, and a model that says that it cannot go on. */
const ENDINGS: Ending[] = [
  ['/cut stream', 'provider_unreachable', /closed the connection/],
  ['/fail', null, /Overloaded|The model failed/],
];

/** What came before arrives, then an error. */
export async function brokenStreams(t: Test, world: World): Promise<void> {
  const check = async (
    { name, place, model }: AiModel,
    [question, errorCode, pattern]: Ending,
  ): Promise<void> => {
    const { headers, logged } = world.newCase(`ai ${name} ${question}`);
    const errors: unknown[] = [];
    const result = streamText({
      model: model(world, headers),
      prompt: question,
      ...LIMITS,
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    t.equal((await collect(result.textStream)).join(''), `You said: ${question}`, name);
    t.match(JSON.stringify(errors, detail), pattern, `${name}, ${question}: the error is reported`);
    const { path: request_path, provider } = place;
    const delivery = { truncated: true, stream: true, error_code: errorCode };
    t.match(await logged(1), [{ provider, request_path, delivery }], `${name}, ${question}`);
  };
  await Promise.all(AI_MODELS.flatMap((model) => ENDINGS.map((ending) => check(model, ending))));
}

/** Of an error, too. */
function detail(_: string, value: unknown): unknown {
  return value instanceof Error ? { ...value, message: value.message } : value;
}

export async function abort(t: Test, world: World): Promise<void> {
  for (const { name, place, model } of AI_MODELS) {
    await checkAborts(t, world, {
      name: `ai ${name}`,
      provider: providerOf(world, place),
      path: place.path,
      isAbortError: (error) => (error as Error).name === 'AbortError',
      call: async (question, { headers, stream, signal, onPiece }) => {
        const asked = { model: model(world, headers), prompt: question, ...LIMITS, abortSignal: signal };
        if (!stream) return void (await generateText(asked));
        for await (const _ of streamText(asked).textStream) onPiece();
        // The package ends the text of an aborted stream as if it had been whole.
        throw signal.reason;
      },
    });
  }
}
