/** Evaluators of sessions over the whole path: calls through the gateway, ingest, a judge, Python and a service, the API. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import type { SessionTree } from '#core/contracts/session.ts';
import { waitFor } from '../../../support/assay.ts';
import { freePort } from '../../../support/free-port.ts';
import { createWorld } from '../../../support/world.ts';

const world = await createWorld(t);
const provider = await world.provider();
const settings = {
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  OPENAI_API_KEY: 'sk-operator',
  OPENAI_BASE_URL: provider.url,
  OUTBOUND_ALLOW: '127.0.0.1',
  GATEWAY_PORT: String(await freePort()),
};
const { url } = await world.start('api', settings);
const { dataDir } = await world.start('ingest', settings);
const { url: gatewayUrl } = await world.start('gateway', { ...settings, DATA_DIR: dataDir });
await world.start('evaluators', settings);
const { keyWith } = await world.organization({ tier: 'enterprise' });
const key = await keyWith(['gateway', 'read', 'write']);
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

async function api<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { data: T; error: string | null };
  if (answer.error !== null) throw new Error(`${path}: ${answer.error}`);
  return answer.data;
}

type Message = { role: string; content: string };

/** Says something in a session, after what was said before, and returns the answer. */
async function say(sessionId: string, messages: Message[]): Promise<void> {
  const response = await fetch(`${gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, 'service-session-id': sessionId, 'service-session-name': 'Support' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
  });
  const answer = (await response.json()) as { choices: { message: Message }[] };
  messages.push(answer.choices[0]!.message);
}

const judgedPrompts: string[] = [];
provider.script((request) => {
  const body = request.body.toString();
  // By itself it answers "You said: …".
  if (!body.includes('submit_verdict')) return { kind: 'answer' };
  judgedPrompts.push(body);
  const verdict = JSON.stringify({ reasoning: 'The order was found.', score: true });
  return { kind: 'answer', toolCalls: [{ name: 'submit_verdict', arguments: verdict }] };
});

const PYTHON = `
def evaluate(input, output, record):
    session = record["session"]
    said = [one for one in session["conversation"] if one["role"] == "user"]
    return len(said) + len(session["turns"]) / 10 + (0.01 if output == "You said: Thanks" and "My order?" in input else 0)`;

t.test('a session is scored once it is silent: by a judge, by Python and by a service', async (t) => {
  const heard: { data: { session: { conversation: unknown[] } } }[] = [];
  const service = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      heard.push(JSON.parse(body));
      response.end('{"score": 0.75}');
    });
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.teardown(() => service.close());
  const { port } = service.address() as AddressInfo;
  const definitions = {
    solved: {
      scoring_type: 'LLM-BOOLEAN',
      llm_template: { model: 'gpt-4o', prompt: 'Was the problem solved?' },
    },
    turns: { scoring_type: 'PYTHON', code_template: { code: PYTHON } },
    service: {
      scoring_type: 'EXTERNAL',
      external_config: {
        adapter: 'http',
        url: `http://127.0.0.1:${port}/score`,
        secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
      },
    },
  };
  const ids: Record<string, string> = {};
  for (const [name, definition] of Object.entries(definitions)) {
    const { id, scope } = await api<{ id: string; scope: string }>('/v1/evaluator', {
      name,
      scope: 'session',
      ...definition,
    });
    t.equal(scope, 'session');
    ids[name] = id;
    await api(`/v1/evaluator/${id}/onlineEvaluators`, { config: { sampleRate: 100, idleSeconds: 1 } });
  }
  const talk: Message[] = [{ role: 'user', content: 'My order?' }];
  await say('order 7', talk);
  talk.push({ role: 'user', content: 'Thanks' });
  await say('order 7', talk);

  const sessionOf = async () => (await api<SessionTree>('/v1/session/order%207')).session;
  await waitFor('the scores of all three', async () => {
    const evaluations = await api<object[]>('/v1/evaluation/query', { sessionId: 'order 7' });
    return evaluations.length > 0 && Object.keys((await sessionOf()).scores).length === 3;
  });
  const { scores } = await sessionOf();
  t.match(scores, { solved: 1, service: 0.75 });
  // A session that was silent for a second between its calls, on a busy machine, is scored after the first one as well.
  await waitFor('the scores of the whole session', async () => (await sessionOf()).scores.turns === 2.21);
  t.match(judgedPrompts.at(-1), /Conversation to evaluate/);
  const asked = JSON.parse(judgedPrompts.at(-1)!) as { messages: Message[] };
  const text = asked.messages.map(({ content }) => content).join('\n');
  t.ok(text.includes('{"role":"user","text":"My order?"}'), text);
  await waitFor('the service to hear all of it', () => heard.at(-1)!.data.session.conversation.length === 4);
  t.match(heard.at(-1)!.data.session.conversation, [
    { role: 'user', text: 'My order?' },
    { role: 'assistant', text: 'You said: My order?' },
    { role: 'user', text: 'Thanks' },
    { role: 'assistant', text: 'You said: Thanks' },
  ]);
  const [row] = await api<{ session_id: string; scores: object }[]>('/v1/session/query', {
    search: 'order 7',
  });
  t.match(row, { session_id: 'order 7', scores: { solved: 1 } });

  // A further word, and the session is scored anew.
  talk.push({ role: 'user', content: 'One more thing' });
  await say('order 7', talk);
  await waitFor('the new score', async () => (await sessionOf()).scores.turns === 3.3);
});

t.test('an evaluator of sessions is tried out on a session of the log', async (t) => {
  await say('tried', [{ role: 'user', content: 'Hello' }]);
  await waitFor(
    'the session',
    async () => (await api<object[]>('/v1/session/query', { search: 'tried' })).length === 1,
  );
  const testInput = { sessionId: 'tried' };
  const code = 'def evaluate(input, output, record):\n  return len(record["session"]["turns"])';
  t.match(await api('/v1/evaluator/python/test', { code, testInput }), { output: 1, error: null });
  const evaluatorConfig = {
    evaluator_scoring_type: 'LLM-BOOLEAN',
    evaluator_llm_template: { model: 'gpt-4o', prompt: 'Polite? {{conversation}}' },
  };
  t.match(await api('/v1/evaluator/llm/test', { evaluatorConfig, testInput }), {
    score: 1,
    prompt: 'Polite? [{"role":"user","text":"Hello"},{"role":"assistant","text":"You said: Hello"}]',
  });
  t.match(await api('/v1/evaluator/python/test', { code, testInput: { sessionId: 'unknown' } }), {
    output: null,
    error: { code: 'request_deleted' },
  });
});
