/** The `@anthropic-ai/sdk` package: what it gets when something goes wrong, and what the log keeps of it. */
import Anthropic from '@anthropic-ai/sdk';
import type { Test } from 'tap';
import { type Aborting, checkAborts } from './aborts.ts';
import { ask, clientOf, PLACES, QUESTION } from './anthropic-client.ts';
import { anthropicScript } from './models/messages.ts';
import { checkFailure, MESSAGES_PLACE } from './records.ts';
import { providerOf, type World } from './world.ts';

type ErrorCase = [status: number, type: new (...given: never[]) => Error, name: string];

const PROVIDER_ERRORS: ErrorCase[] = [
  [400, Anthropic.BadRequestError, 'invalid_request_error'],
  [401, Anthropic.AuthenticationError, 'authentication_error'],
  [403, Anthropic.PermissionDeniedError, 'permission_error'],
  [404, Anthropic.NotFoundError, 'not_found_error'],
  [413, Anthropic.APIError, 'request_too_large'],
  [429, Anthropic.RateLimitError, 'rate_limit_error'],
  [500, Anthropic.InternalServerError, 'api_error'],
  [529, Anthropic.InternalServerError, 'overloaded_error'],
];

/** What `call` throws, as the package's own error. */
async function errorOf(call: PromiseLike<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> {
  const error = await call.then(
    () => new Error('The call should have failed'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof Anthropic.APIError) return error;
  throw error;
}

export async function providerErrors(t: Test, world: World): Promise<void> {
  const check = async (place: (typeof PLACES)[number], [status, type, name]: ErrorCase) => {
    const { headers, logged } = world.newCase(`anthropic error ${status} ${place.provider}`);
    const asked = ask(`/status ${status}`, place.model);
    const error = await errorOf(clientOf(world, headers).messages.create(asked));
    t.type(error, type, `${status} of ${place.provider} is a ${type.name}`);
    t.match(error, { status, type: name, apiMessage: `Scripted failure with status ${status}` });
    if (status === 429) t.equal(error.headers?.get('retry-after'), '1');
    const [record] = await logged(1);
    checkFailure(t, record, status, place);
  };
  await Promise.all(PLACES.flatMap((place) => PROVIDER_ERRORS.map((expected) => check(place, expected))));
}

/** What came before the cut arrives, then an error: no stream that is cut ends as if it were whole. */
export async function brokenStream(t: Test, world: World): Promise<void> {
  for (const place of PLACES) {
    const { headers, logged } = world.newCase(`anthropic cut stream ${place.provider}`);
    const messages = clientOf(world, headers).messages.stream(ask('/cut stream', place.model));
    let text = '';
    messages.on('text', (piece) => {
      text += piece;
    });
    t.match(await errorOf(messages.finalMessage()), {
      error: { type: 'error', error: { type: 'api_error' } },
    });
    t.equal(text, 'You said: /cut stream');
    const [record] = await logged(1);
    t.match(record, {
      provider: place.provider,
      response_body: { content: [{ text }] },
      delivery: { truncated: true, stream: true, error_code: 'provider_unreachable' },
    });
  }
}

/** A model that fails after it has begun: the client hears it, and the record is of a failure. */
export async function failedStream(t: Test, world: World): Promise<void> {
  for (const place of PLACES) {
    const { headers, logged } = world.newCase(`anthropic failed stream ${place.provider}`);
    const messages = clientOf(world, headers).messages.stream(ask('/fail', place.model));
    const [status, type] = place.provider === 'ANTHROPIC' ? [529, 'overloaded_error'] : [500, 'api_error'];
    t.match(await errorOf(messages.finalMessage()), { type }, place.provider);
    t.match(
      await logged(1),
      [{ provider: place.provider, response_status: status, delivery: { truncated: true } }],
      place.provider,
    );
  }
}

export async function brokenAnswer(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('anthropic cut answer');
  const error = await errorOf(clientOf(world, headers).messages.create(ask('/cut body')));
  t.type(error, Anthropic.InternalServerError);
  t.match(error, { status: 502, type: 'api_error' });
  t.match(await logged(1), [{ response_status: 502, delivery: { truncated: true } }]);
}

export async function gatewayErrors(t: Test, world: World): Promise<void> {
  const wrongKey = clientOf(world, {}, { apiKey: 'sk-assay-unknown' });
  t.type(await errorOf(wrongKey.messages.create(ask(QUESTION))), Anthropic.AuthenticationError);

  const client = clientOf(world, {});
  const unknownModel = { ...ask(QUESTION), model: 'no-such-model' };
  const notFound = await errorOf(client.messages.create(unknownModel));
  t.type(notFound, Anthropic.NotFoundError);
  t.match(notFound, { type: 'not_found_error', apiMessage: /no-such-model/ });
  t.type(await errorOf(client.models.retrieve('no-such-model')), Anthropic.NotFoundError);
  t.type(await errorOf(client.models.list({ limit: 0 })), Anthropic.BadRequestError);
  const notServed = await errorOf(client.messages.batches.list());
  t.match(notServed, { status: 404, type: 'not_found_error', apiMessage: /There is no GET/ });

  const untranslatable = { ...ask(QUESTION, 'gpt-4o-mini'), top_k: 3 };
  t.match(await errorOf(client.messages.create(untranslatable)), {
    status: 400,
    type: 'invalid_request_error',
    apiMessage: /top_k/,
  });
}

/** A rate limit of ours is the package's, which does not try again at once. */
export async function rateLimit(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('anthropic rate limit');
  const policy = { ...headers, 'Service-RateLimit-Policy': '1;w=60;s=case' };
  const client = clientOf(world, policy, { maxRetries: 2 });
  await client.messages.create(ask(QUESTION));
  const error = await errorOf(client.messages.create(ask(QUESTION)));
  t.type(error, Anthropic.RateLimitError);
  t.ok(Number(error.headers?.get('retry-after')) > 0);
  t.match(await logged(2), [{ response_status: 200 }, { response_status: 429 }]);
}

/** The package tries again by itself: each try is a call, and a record. */
export async function retries(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('anthropic retries');
  let tries = 0;
  world.anthropic.script((request) => {
    tries += 1;
    return tries < 3 ? { kind: 'json', status: 529, body: { type: 'error' } } : anthropicScript(request);
  });
  try {
    const message = await clientOf(world, headers, { maxRetries: 2 }).messages.create(ask(QUESTION));
    t.equal(message.stop_reason, 'end_turn');
  } finally {
    world.anthropic.script(anthropicScript);
  }
  t.match(await logged(3), [{ response_status: 529 }, { response_status: 529 }, { response_status: 200 }]);
}

export async function abort(t: Test, world: World): Promise<void> {
  for (const place of PLACES) {
    const aborting: Aborting = {
      name: `anthropic ${place.provider}`,
      provider: providerOf(world, place),
      path: MESSAGES_PLACE.path,
      isAbortError: (error) => error instanceof Anthropic.APIUserAbortError,
      call: async (question, { headers, stream, signal, onPiece }) => {
        const { messages } = clientOf(world, headers);
        const answer = await messages.create({ ...ask(question, place.model), stream }, { signal });
        if (Symbol.asyncIterator in answer) for await (const _ of answer) onPiece();
      },
    };
    await checkAborts(t, world, aborting);
  }
}
