/** Providers that give no usage, and clients that leave before it comes: their records have tokens counted here. */
import t from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import type { StoredRecord } from '../../support/gateway.ts';
import { startTestGateway } from '../../support/gateway.ts';

const gateway = await startTestGateway(t);

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] };
const STREAM = { ...CHAT, stream: true };
/** Nano-dollars a token. */
const PRICE = { prompt: 150, completion: 600 };

type Estimated = StoredRecord & { usage_estimated: boolean };

function costOf({ prompt_tokens, completion_tokens }: Estimated): string {
  return String(prompt_tokens! * PRICE.prompt + completion_tokens! * PRICE.completion);
}

t.test(
  'a plain response without usage is recorded with estimated tokens, their cost and a mark',
  async (t) => {
    gateway.provider.script(() => ({
      kind: 'answer',
      text: 'Hello! How can I assist you today?',
      usage: null,
    }));
    const answer = await gateway.chat(CHAT);
    t.notOk((await answer.text()).includes('usage'), 'the client gets what the provider said');
    const record = (await gateway.record(answer)) as Estimated;
    t.match(record, { prompt_tokens: 8, completion_tokens: 9, total_tokens: 17, usage_estimated: true });
    t.equal(record.cost_nano, costOf(record));
  },
);

t.test('a stream whose provider ignores include_usage is recorded with estimated tokens', async (t) => {
  const deltas = ['Hello!', ' How can I', ' assist you today?'];
  gateway.provider.script(() => ({ kind: 'stream', deltas, usage: null }));
  const answer = await gateway.chat(STREAM);
  t.match(await answer.text(), /\[DONE\]/);
  const record = (await gateway.record(answer)) as Estimated;
  t.match(record, { prompt_tokens: 8, completion_tokens: 9, truncated: false, usage_estimated: true });
  t.equal(record.cost_nano, costOf(record));
});

t.test(
  'a stream whose client disconnects is recorded with the estimated tokens of the received part',
  async (t) => {
    gateway.provider.script(() => ({
      kind: 'stream',
      deltas: Array.from({ length: 500 }, () => 'word '),
      everyMs: 5,
    }));
    const id = newRequestId();
    const leaving = new AbortController();
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'service-request-id': id,
      },
      body: JSON.stringify(STREAM),
      signal: leaving.signal,
    });
    const reader = answer.body!.getReader();
    for (let chunk = 0; chunk < 10; chunk += 1) await reader.read();
    leaving.abort();
    const record = (await gateway.record(id)) as Estimated;
    const said = JSON.parse(record.response_text).choices[0].message.content as string;
    const words = said.trim().split(' ').length;
    t.match(record, { status: 499, truncated: true, prompt_tokens: 8, usage_estimated: true });
    t.ok(
      words >= 5 && Math.abs(record.completion_tokens! - words) <= 1,
      `${words} words, ${record.completion_tokens} tokens`,
    );
    t.equal(record.cost_nano, costOf(record));
  },
);

t.test(
  'a stream that its provider breaks off is recorded with the estimated tokens of the received part',
  async (t) => {
    gateway.provider.script(() => ({ kind: 'stream', deltas: ['Hello!', ' How can I'], ending: 'cut' }));
    const answer = await gateway.chat(STREAM);
    await answer.text();
    const record = (await gateway.record(answer)) as Estimated;
    t.match(record, { truncated: true, prompt_tokens: 8, completion_tokens: 5, usage_estimated: true });
  },
);

t.test('usage that a provider reports is not estimated, and an error response has no cost', async (t) => {
  gateway.provider.script(() => ({ kind: 'answer', usage: { promptTokens: 100, completionTokens: 50 } }));
  const counted = await gateway.chat(CHAT);
  await counted.text();
  t.match(await gateway.record(counted), {
    prompt_tokens: 100,
    completion_tokens: 50,
    usage_estimated: false,
  });
  gateway.provider.script(() => ({ kind: 'error', status: 429 }));
  const refused = await gateway.chat(CHAT);
  await refused.text();
  t.match(await gateway.record(refused), { prompt_tokens: null, cost_nano: null, usage_estimated: false });
});
