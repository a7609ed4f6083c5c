/** Sizes and depths at the edge of what is real: bodies and events of megabytes, and brackets without end. */
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import { startWorld } from './sockets.ts';

const world = await startWorld(t);

const MIB = 1024 * 1024;
const EVENTS = { 'content-type': 'text/event-stream' };
const JSON_TYPE = { 'content-type': 'application/json' };
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const asking = (model: string, more: object = {}) => ({
  model,
  max_tokens: 9,
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
});
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Characters of each length, so that no piece of the size of a buffer ends where one of them does. */
const LONG = 'a é 漢 🚀 "\\" '.repeat(Math.ceil((2 * MIB) / 19));

for (const [path, model] of [
  ['/v1/chat/completions', 'gpt-4o-mini'],
  ['/v1/messages', 'claude-sonnet-4-5'],
  ['/v1/responses', 'gpt-4o-mini'],
  ['/v1/embeddings', 'gpt-4o-mini'],
] as const) {
  t.test(`${path}: a request and a response of ten megabytes pass unchanged`, async (t) => {
    const sent = bytes(asking(model, { input: LONG.repeat(5) }));
    const told = bytes({ id: 'x', data: LONG.repeat(5) });
    t.ok(sent.length > 10 * MIB && told.length > 10 * MIB);
    const given = await world.send({
      path,
      body: sent,
      behaviour: { kind: 'bytes', body: told, headers: JSON_TYPE },
    });
    t.ok(given.heard?.body.equals(sent), 'there');
    t.ok(given.bytes.equals(told), 'and back');
  });
}

const chatEvent = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const typed = (data: { type: string } & Record<string, unknown>) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

t.test('a stream event of two megabytes passes unchanged, and is in the record', async (t) => {
  const body = `${chatEvent({ content: LONG })}${chatEvent({}, 'stop')}data: [DONE]\n\n`;
  const sent = bytes(asking('gpt-4o-mini', { stream: true, stream_options: { include_usage: true } }));
  const given = await world.send({
    path: '/v1/chat/completions',
    body: sent,
    behaviour: { kind: 'bytes', body, headers: EVENTS, chunking: { bytesEach: 300_001 } },
  });
  t.ok(given.bytes.equals(bytes(body)));
  const record = JSON.parse((await world.gateway.record(given.id)).response_text);
  t.ok(record.choices[0].message.content === LONG);
});

t.test('a stream event of two megabytes is translated in both directions', async (t) => {
  const args = JSON.stringify({ long: LONG });
  const anthropic = [
    typed({
      type: 'message_start',
      message: { id: 'm1', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
    }),
    typed({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 't1', name: 'f', input: {} },
    }),
    typed({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: args } }),
    typed({ type: 'content_block_stop', index: 0 }),
    typed({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } }),
    typed({ type: 'message_stop' }),
  ];
  const call = { index: 0, id: 't1', type: 'function', function: { name: 'f', arguments: args } };
  const openai = [chatEvent({ tool_calls: [call] }), chatEvent({}, 'tool_calls'), 'data: [DONE]\n\n'];
  for (const [path, model, events] of [
    ['/v1/chat/completions', 'claude-sonnet-4-5', anthropic],
    ['/v1/messages', 'gpt-4o-mini', openai],
  ] as const) {
    const given = await world.send({
      path,
      body: bytes(asking(model, { stream: true })),
      behaviour: { kind: 'bytes', body: events.join(''), headers: EVENTS, chunking: { bytesEach: 300_001 } },
    });
    const { completion } = assembleStream(given.bytes.toString());
    t.ok(JSON.stringify(completion).includes(JSON.stringify(path.includes('chat') ? args : LONG)), path);
  }
});

t.test('bodies nested 90,000 levels deep pass in the same dialect, and are recorded', async (t) => {
  const sent = bytes(JSON.stringify(asking('gpt-4o-mini')).replace(/\}$/, `,"x":${deep(90_000)}}`));
  const told = bytes(`{"id":"c1","choices":[],"x":${deep(90_000)}}`);
  const given = await world.send({
    path: '/v1/chat/completions',
    body: sent,
    behaviour: { kind: 'bytes', body: told, headers: JSON_TYPE },
  });
  t.ok(given.heard?.body.equals(sent));
  t.ok(given.bytes.equals(told));
  t.match(await world.gateway.record(given.id), { status: 200, response_id: 'c1' });
  const options = `{"model":"gpt-4o-mini","stream":true,"stream_options":{"x":${deep(30_000)}}}`;
  const event = `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}],"x":${deep(90_000)}}\n\n`;
  const stream = await world.send({
    path: '/v1/chat/completions',
    body: bytes(options),
    behaviour: { kind: 'bytes', body: `${event}data: [DONE]\n\n`, headers: EVENTS },
  });
  t.equal(stream.heard?.body.toString(), options.replace(']}}', '],"include_usage":true}}'));
  t.equal(stream.bytes.toString(), `${event}data: [DONE]\n\n`);
  t.match(await world.gateway.record(stream.id), { status: 200, response_id: 'c1', truncated: false });
});

t.test(
  'a request nested too deeply to translate is refused with 400 before any provider request',
  async (t) => {
    const schema = (levels: number) =>
      `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","x":${deep(levels)}}}}]}`;
    const input = (levels: number) =>
      `{"model":"gpt-4o-mini","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f","input_schema":{"type":"object","x":${deep(levels)}}}]}`;
    for (const [path, body] of [
      ['/v1/chat/completions', schema],
      ['/v1/messages', input],
    ] as const) {
      for (const levels of [10_000, 90_000]) {
        const given = await world.send({ path, body: bytes(body(levels)), behaviour: { kind: 'echo' } });
        t.equal(given.status, 400, `${path} ${levels}`);
        t.match(JSON.parse(given.bytes.toString()).error.message, /nested deeper than \d+ levels/);
        t.equal(given.heard, null);
      }
      const real = await world.send({
        path,
        body: bytes(body(400)),
        behaviour: { kind: 'error', status: 429 },
      });
      t.equal(real.status, 429, 'what is merely deep goes');
      t.ok(real.heard?.body.includes(deep(400)));
    }
  },
);

t.test('a response nested too deeply to translate is a 502', async (t) => {
  const message = `{"id":"m1","type":"message","content":[{"type":"tool_use","id":"t","name":"f","input":{"x":${deep(90_000)}}}]}`;
  const given = await world.send({
    path: '/v1/chat/completions',
    body: bytes(asking('claude-sonnet-4-5')),
    behaviour: { kind: 'bytes', body: message, headers: JSON_TYPE },
  });
  t.equal(given.status, 502);
  t.match(JSON.parse(given.bytes.toString()), { error: { code: 'provider_bad_answer' } });
});
