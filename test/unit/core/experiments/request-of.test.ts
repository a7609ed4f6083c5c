import t from 'tap';
import { requestOf } from '#core/experiments/mod.ts';

const request = {
  model: 'gpt-4o',
  temperature: 1,
  stream: true,
  stream_options: { include_usage: true },
  messages: [{ role: 'user', content: 'Hello' }],
};
const item = { request, metadata: {} };

t.test('a model target replaces the model and its parameters, and asks for a whole answer', async (t) => {
  const target = {
    kind: 'model',
    model: 'gpt-4o-mini',
    parameters: { temperature: 0, stream: true },
  } as const;
  t.same(requestOf(target, item), {
    body: { model: 'gpt-4o-mini', temperature: 0, messages: request.messages },
  });
});

t.test('a replay keeps all that it does not override, and removes what it overrides with null', async (t) => {
  t.same(requestOf({ kind: 'replay' }, item), {
    body: { model: 'gpt-4o', temperature: 1, messages: request.messages },
  });
  t.same(requestOf({ kind: 'replay', overrides: { temperature: null, seed: 1 } }, item), {
    body: { model: 'gpt-4o', seed: 1, messages: request.messages },
  });
});

t.test('an item without messages is skipped where no prompt brings them', async (t) => {
  const inputs = { request: { inputs: { city: 'Oslo' } }, metadata: {} };
  t.match(requestOf({ kind: 'model', model: 'gpt-4o' }, inputs), { skipped: 'no_messages' });
  t.match(requestOf({ kind: 'replay' }, inputs), { skipped: 'no_messages' });
  t.same(requestOf({ kind: 'prompt', promptId: 'p' }, inputs), {
    body: { prompt_id: 'p', inputs: { city: 'Oslo' } },
  });
});

t.test('a prompt target takes the place of the prompt that a logged request was filled from', async (t) => {
  const target = { kind: 'prompt', promptId: 'p', versionId: 'v', model: 'gpt-4o-mini' } as const;
  const filled = { request, metadata: { inputs: { city: 'Oslo' } } };
  t.same(
    requestOf(target, filled),
    {
      body: {
        temperature: 1,
        prompt_id: 'p',
        version_id: 'v',
        model: 'gpt-4o-mini',
        inputs: { city: 'Oslo' },
      },
    },
    'messages that were made from inputs go',
  );
  const called = {
    request: { ...request, prompt_id: 'old', environment: 'production', inputs: { city: 'Oslo' } },
    metadata: {},
  };
  t.same(
    requestOf({ kind: 'prompt', promptId: 'p', environment: 'candidate' }, called),
    {
      body: {
        temperature: 1,
        messages: request.messages,
        prompt_id: 'p',
        environment: 'candidate',
        inputs: { city: 'Oslo' },
      },
    },
    'messages beside a prompt stay',
  );
});
