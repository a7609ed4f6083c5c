/** A stored prompt from its creation by the management API to the inputs of a call that used it. */
import t from 'tap';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { waitFor } from '../../support/assay.ts';
import type { ScriptedProvider } from '../../support/scripted-provider.ts';
import { createWorld } from '../../support/world.ts';

const PATH = '/v1/prompt-2025';

let api: TestApi;
let provider: ScriptedProvider;
let gatewayUrl: string;
let callKey: string;
t.before(async () => {
  api = await startTestApi(t);
  const world = await createWorld(t, api.database);
  provider = await world.provider();
  const DATA_DIR = world.directory();
  const environment = { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'sk-test', DATA_DIR };
  gatewayUrl = (await world.start('gateway', environment)).url;
  await world.start('ingest', { DATA_DIR });
  callKey = await api.own.keyWith(['gateway']);
});

async function post<T>(path: string, body: object): Promise<T> {
  const answer = await api.call(path, { body });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data as T;
}

/** Calls the gateway; `sent` is what the provider got. */
async function callPrompt(promptId: string, rest: object = {}) {
  const response = await fetch(`${gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${callKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt_id: promptId, inputs: { name: 'Ada', count: 3 }, ...rest }),
  });
  await response.text();
  const requestId = response.headers.get('service-request-id')!;
  return { status: response.status, requestId, sent: String(provider.requests.at(-1)?.body) };
}

const bodyOf = (content: string) => ({
  model: 'gpt-4o-mini',
  seed: 7,
  messages: [{ role: 'user', content }],
});

t.test('a prompt that the API stored is called, changed, found by its inputs, and deleted', async (t) => {
  const { id, versionId } = await post<{ id: string; versionId: string }>(PATH, {
    name: 'Greeting',
    tags: [],
    promptBody: bodyOf('Hello {{name}}, {{count:number}}'),
  });
  const first = await callPrompt(id);
  t.equal(first.status, 200);
  t.strictSame(JSON.parse(first.sent), bodyOf('Hello Ada, 3'));
  const inputs = await api.call(`${PATH}/id/${id}/${versionId}/inputs?requestId=${first.requestId}`);
  t.same(inputs.body.data, {
    request_id: first.requestId,
    version_id: versionId,
    inputs: { name: 'Ada', count: 3 },
  });

  await post(`${PATH}/update`, {
    promptId: id,
    promptVersionId: versionId,
    newMajorVersion: false,
    commitMessage: 'Farewell',
    environment: 'production',
    promptBody: bodyOf('Goodbye {{name}}'),
  });
  await waitFor('the new version to be live', async () =>
    (await callPrompt(id)).sent.includes('Goodbye Ada'),
  );
  const old = await callPrompt(id, { version_id: versionId });
  t.match(old.sent, /Hello Ada/, 'the old version can be called still');

  await api.call(`${PATH}/${id}`, { method: 'DELETE' });
  await waitFor(
    'calls of the deleted prompt to be refused',
    async () => (await callPrompt(id)).status === 400,
  );
});
