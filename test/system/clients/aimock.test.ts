/**
 * The unmodified clients, only their base URL and key set, through the gateway to `@copilotkit/aimock`: a provider that
 * others wrote, which speaks both dialects as it understands them.
 */
import { LLMock } from '@copilotkit/aimock';
import t from 'tap';
import { startTestGateway } from '../../support/gateway.ts';
import { clientsOf, embeddersOf } from './aimock-clients.ts';
import type { Query } from './models/asked.ts';

/** In the words of either dialect. */
const USAGE = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14, input_tokens: 9, output_tokens: 5 };
const COUNTED = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
const QUERY: Query = { query: 'Zürich' };
const EMBEDDING = [0.25, -0.5, 0.125];
const FOUND_WITHIN_MS = 30_000;

const aimock = new LLMock({ port: 0, host: '127.0.0.1' });
aimock.onMessage('Hello', { content: 'Grüße aus Köln 👋', usage: USAGE });
aimock.on({ userMessage: 'weather', hasToolResult: true }, { content: 'Sunny', usage: USAGE });
aimock.onMessage('weather', {
  toolCalls: [{ name: 'get_weather', arguments: JSON.stringify(QUERY) }],
  usage: USAGE,
});
aimock.onMessage('form', { content: JSON.stringify(QUERY), usage: USAGE });
aimock.onMessage('unlucky', {
  error: { message: 'Not so fast', type: 'rate_limit_error' },
  status: 429,
});
aimock.onEmbedding(/./, { embedding: EMBEDDING });
const origin = await aimock.start();
const gateway = await startTestGateway(t, {
  OPENAI_BASE_URL: `${origin}/v1`,
  ANTHROPIC_BASE_URL: origin,
  ANTHROPIC_API_KEY: 'sk-ant-operator',
});
t.teardown(async () => {
  await aimock.stop();
});

const access = (name: string) => ({
  url: gateway.url,
  apiKey: gateway.key,
  headers: { 'Service-Session-Id': name },
});

type Row = Record<'status' | 'prompt_tokens' | 'completion_tokens' | 'total_tokens', number | null> & {
  is_stream: boolean;
  truncated: boolean;
};

/** The records of a case, once there is one more than were there. */
async function logged(name: string, before: number): Promise<Row[]> {
  for (const deadline = Date.now() + FOUND_WITHIN_MS; ; ) {
    const rows = await gateway.sql<Row[]>`
      select status, prompt_tokens, completion_tokens, total_tokens, is_stream, truncated
        from assay.requests where session_id = ${name} order by created_at`;
    if (rows.length > before || Date.now() > deadline) return rows.slice(before);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const { name } of clientsOf(access(''))) {
  t.test(name, async (t) => {
    const client = clientsOf(access(name)).find((one) => one.name === name)!;
    let records = 0;
    const found = async (expected: Partial<Row>) => {
      const rows = await logged(name, records);
      records += rows.length;
      t.match(rows[0], { status: 200, truncated: false, ...expected });
    };
    t.equal(await client.chat('Hello'), 'Grüße aus Köln 👋', 'an answer');
    await found({ ...COUNTED, is_stream: false });
    t.equal(await client.stream('Hello'), 'Grüße aus Köln 👋', 'a stream');
    await found({ ...COUNTED, is_stream: true });
    t.same(await client.structured('Fill the form in'), QUERY, 'structured output');
    await found(COUNTED);
    await t.rejects(client.chat('unlucky'), /Not so fast/, 'an error');
    await found({ status: 429, total_tokens: null });
    t.same(await client.tools('How is the weather?'), QUERY, 'a tool');
    await found(COUNTED);
  });
}

t.test('embeddings', async (t) => {
  for (const [index, embed] of embeddersOf(access('embeddings')).entries()) {
    t.same(await embed('sunny'), EMBEDDING);
    t.match(await logged('embeddings', index), [{ status: 200, is_stream: false }]);
  }
});
