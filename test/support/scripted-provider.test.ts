import net from 'node:net';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { type Behaviour, type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts';

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hello there' }] };

async function start(test: Test, behaviour?: Behaviour) {
  const provider = await startScriptedProvider();
  test.teardown(() => provider.stop());
  if (behaviour !== undefined) provider.script(() => behaviour);
  return { provider, client: new OpenAI({ baseURL: provider.url, apiKey: 'sk-test', maxRetries: 0 }) };
}

function post(provider: ScriptedProvider, body: unknown, signal?: AbortSignal) {
  return fetch(`${provider.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

t.test('a plain call is answered, counted and recorded byte for byte', async (t) => {
  const { provider, client } = await start(t);
  const completion = await client.chat.completions.create(CHAT);
  t.equal(completion.choices[0]?.message.content, 'You said: Hello there');
  t.match(completion.usage, { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 });
  t.equal(provider.requests.length, 1);
  t.match(provider.requests[0], { method: 'POST', path: '/v1/chat/completions', aborted: false });
  t.same(JSON.parse(String(provider.requests[0]?.body)), CHAT);
});

t.test('a stream carries usage only when it is asked for', async (t) => {
  const { provider } = await start(t);
  const without = await (await post(provider, { ...CHAT, stream: true })).text();
  t.notMatch(without, 'usage');
  t.ok(without.endsWith('data: [DONE]\n\n'));
  const asked = { ...CHAT, stream: true, stream_options: { include_usage: true } };
  const frames = (await (await post(provider, asked)).text()).trim().split('\n\n');
  const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame.slice('data: '.length)));
  t.ok(chunks.slice(0, -1).every((chunk) => chunk.usage === null && chunk.choices.length === 1));
  t.match(chunks.at(-1), { choices: [], usage: { total_tokens: 9 } });
});

t.test('tool calls arrive whole, plain and streamed', async (t) => {
  const toolCalls = [
    { name: 'weather', arguments: '{"city":"Köln","days":3}' },
    { name: 'time', arguments: '{}' },
  ];
  const { provider, client } = await start(t, { kind: 'answer', toolCalls });
  const plain = await client.chat.completions.create(CHAT);
  provider.script(() => ({ kind: 'stream', toolCalls }));
  const streamed = await client.chat.completions.stream({ ...CHAT, stream: true }).finalChatCompletion();
  for (const completion of [plain, streamed]) {
    t.equal(completion.choices[0]?.finish_reason, 'tool_calls');
    t.match(completion.choices[0]?.message.tool_calls, [
      { id: 'call_0', function: toolCalls[0] },
      { id: 'call_1', function: toolCalls[1] },
    ]);
  }
});

t.test('compressed answers and streams are readable', async (t) => {
  for (const encoding of ['gzip', 'deflate', 'br', 'zstd'] as const) {
    for (const kind of ['answer', 'stream'] as const) {
      const { provider } = await start(t, { kind, encoding });
      const response = await post(provider, { ...CHAT, stream: kind === 'stream' });
      t.equal(response.headers.get('content-encoding'), encoding);
      t.match(await response.text(), /there/, `${kind} in ${encoding}`);
    }
  }
});

t.test('bytes are cut where asked', async (t) => {
  const { provider } = await start(t, { kind: 'bytes', body: 'Hé!', chunking: { at: [2] } });
  const socket = net.connect(provider.port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  let received = '';
  for await (const piece of socket.setEncoding('latin1')) received += piece;
  t.match(received, /\r\n2\r\nH\xc3\r\n2\r\n\xa9!\r\n0\r\n/);
});

t.test('broken connections are seen as such', async (t) => {
  const broken: Behaviour[] = [
    { kind: 'cut', at: 'headers' },
    { kind: 'cut', at: 'body' },
    { kind: 'stream', ending: 'cut' },
    { kind: 'wrong-length', by: 10 },
    { kind: 'reset' },
  ];
  for (const behaviour of broken) {
    const { provider } = await start(t, behaviour);
    const read = post(provider, CHAT).then((response) => response.text());
    await t.rejects(read, JSON.stringify(behaviour));
    t.equal(provider.requests[0]?.aborted, false);
  }
});

t.test('a caller that hangs up is recorded with the moment', async (t) => {
  for (const behaviour of [{ kind: 'hang' }, { kind: 'stream', ending: 'stall' }] as const) {
    const { provider } = await start(t, behaviour);
    const abort = new AbortController();
    const call = post(provider, CHAT, abort.signal).then((response) => response.text());
    while (provider.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const before = performance.now();
    abort.abort();
    await t.rejects(call);
    await provider.requests[0]?.ended;
    t.equal(provider.requests[0]?.aborted, true);
    t.ok((provider.requests[0]?.abortedAtMs ?? 0) >= before);
  }
});

t.test('trouble can be asked for in the message or by the model', async (t) => {
  const { client } = await start(t);
  const said = { ...CHAT, messages: [{ role: 'user' as const, content: '/status 429' }] };
  await t.rejects(client.chat.completions.create(said), { status: 429, code: 'rate_limit_exceeded' });
  const named = client.chat.completions.create({ ...CHAT, model: 'scripted-status-400' });
  await t.rejects(named, { message: '400 Scripted failure with status 400' });
});

t.test('a paused provider refuses connections and comes back on its port', async (t) => {
  const { provider } = await start(t);
  await provider.pause();
  await t.rejects(post(provider, CHAT));
  await provider.resume();
  t.equal((await post(provider, CHAT)).status, 200);
});

t.test('embeddings and models work with the openai package', async (t) => {
  const { client } = await start(t);
  const answer = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'] });
  t.same(
    answer.data.map((item) => item.embedding),
    [
      [0.25, -0.5, 0.125],
      [0.25, -0.5, 0.125],
    ],
  );
  t.equal((await client.models.list()).data.length, 3);
});

t.test('a long stream to a slow reader leaves no listeners behind', async (t) => {
  const warned: string[] = [];
  const warn = ({ name }: Error) => void warned.push(name);
  process.on('warning', warn);
  t.teardown(() => process.removeListener('warning', warn));
  const { provider } = await start(t);
  const piece = Buffer.alloc(1024 * 1024, 'x');
  provider.script(() => ({
    kind: 'bytes',
    body: Buffer.concat(Array(60).fill(piece)),
    chunking: { bytesEach: piece.length },
  }));
  let received = 0;
  for await (const bytes of (await post(provider, CHAT)).body!) received += bytes.length;
  t.equal(received, 60 * piece.length);
  t.same(warned, []);
});
