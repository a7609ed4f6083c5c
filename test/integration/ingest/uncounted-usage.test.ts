/** Calls whose tokens stay unknown, and bodies that are hard to count. */
import fc from 'fast-check';
import t from 'tap';
import { BUILT_IN_CATALOG, PRICE_SOURCE } from '#core/models/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { buildRecord } from '../../../ingest/build-record.ts';
import { estimateUsage } from '../../../ingest/estimate-usage.ts';
import { BatchStore } from '../../../ingest/store-batch.ts';
import { createTokenCounter, type TokenCounter } from '../../../ingest/tokens/mod.ts';
import { logEntry } from '../../support/log-entries.ts';
import { loopDelayMs } from '../../support/loop-delay.ts';
import { slowText } from '../../support/slow-text.ts';
import { chat, GREETING, startUsageWorld, UNKNOWN } from './usage-world.ts';

const { sql, counter, storeWith, store, checkUnknown } = await startUsageWorld(t);

t.test('an omitted body is not counted, and without both counts there is no cost', async (t) => {
  const [noRequest, noResponse, noMessage, noEmbedding] = await store([
    { head: { omitRequest: true }, response: GREETING },
    { head: { omitResponse: true }, response: { id: 'c1', object: 'chat.completion', model: 'gpt-4o-mini' } },
    { head: { omitResponse: true }, response: { id: 'm1', type: 'message', model: 'claude-sonnet-4-5' } },
    { head: { omitResponse: true }, request: { input: [1, 2] }, response: { object: 'list', model: 'e' } },
  ]);
  const none = { total_tokens: null, cost_nano: null, usage_estimated: true };
  t.match(noRequest, { prompt_tokens: null, completion_tokens: 9, ...none });
  for (const row of [noResponse, noMessage]) {
    t.match(row, { prompt_tokens: 8, completion_tokens: null, ...none });
  }
  t.match(
    noEmbedding,
    { prompt_tokens: 2, completion_tokens: 0, total_tokens: 2 },
    'embeddings have no text to omit',
  );
});

t.test('a call that was not charged, or whose answer is no text, gets no counted tokens', async (t) => {
  for (const status of [0, 400, 401, 429, 500, 502, 504]) {
    await checkUnknown(t, `status ${status}`, { head: { status }, response: GREETING });
  }
  await checkUnknown(t, 'interrupted', {
    head: { status: 0, truncated: true, errorCode: 'interrupted' },
    response: {},
  });
  await checkUnknown(t, 'left before a byte came', { head: { status: 499, truncated: true }, response: {} });
  await checkUnknown(t, 'no text', { response: chat({ content: null }) });
  await checkUnknown(t, 'a picture', {
    request: { prompt: 'a cat' },
    response: { data: [{ b64_json: 'AAAA' }] },
  });
  await checkUnknown(t, 'a moderation', {
    request: { input: 'a' },
    response: { id: 'm', results: [{ flagged: false }] },
  });
  await checkUnknown(t, 'a moderation left out', {
    head: { omitResponse: true },
    request: { input: 'a' },
    response: { id: 'modr-1', model: 'omni-moderation' },
  });
});

t.test('an answer from the cache without usage is not counted, and costs nothing', async (t) => {
  const [row] = await store([{ head: { cachedFrom: 'x' }, response: GREETING }]);
  t.match(row, { ...UNKNOWN, cost_nano: 0, price_source: PRICE_SOURCE });
});

t.test('a record whose tokens cannot be counted is stored without them', async (t) => {
  const failing: Pick<TokenCounter, 'count'>[] = [
    { count: async (texts) => texts.map(() => null) },
    createTokenCounter({ clock: systemClock, onFailure: () => {}, thread: new URL('file:///nowhere.mjs') }),
  ];
  for (const counter of failing)
    await checkUnknown(t, 'a counter that fails', { response: GREETING }, storeWith({ counter }));
  const log = createLogger({ role: 'test', level: 'silent' });
  const without = new BatchStore({ sql, log, clock: systemClock, retentionDays: null });
  await checkUnknown(t, 'no counter', { response: GREETING }, without);
  const [begun] = await store(
    [
      {
        head: { truncated: true },
        response: {
          type: 'message',
          content: [{ type: 'text', text: 'Hello' }],
          stop_reason: null,
          usage: { input_tokens: 4, output_tokens: 1 },
        },
      },
    ],
    storeWith({ counter: failing[0]! }),
  );
  t.match(
    begun,
    { prompt_tokens: 4, completion_tokens: 1, usage_estimated: false },
    'and what was counted stays',
  );
});

t.test('counting a prompt of 1 MB does not block the event loop', async (t) => {
  const requests = Array.from({ length: 3 }, () => ({
    messages: [{ role: 'user', content: slowText(1_000_000) }],
  }));
  const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
  const delayOf = (response: unknown) =>
    loopDelayMs(requests.length, (round) => store([{ request: requests[round], response }]));
  const counted = await delayOf(GREETING);
  const given = await delayOf({ ...GREETING, usage });
  t.comment(`longest delay ${counted.toFixed(1)} ms when counted here, ${given.toFixed(1)} ms when not`);
  t.ok(counted < given + 100, 'it takes a third of a second or more, elsewhere');
});

t.test('estimating usage never throws, whatever the request and the answer hold', async () => {
  const json = fc.jsonValue({ maxDepth: 5 });
  const member = fc.constantFrom(
    'messages',
    'input',
    'prompt',
    'tools',
    'choices',
    'content',
    'output',
    'usage',
    'object',
    'data',
  );
  const body = fc.dictionary(member, json, { maxKeys: 5, noNullPrototype: false });
  const status = fc.constantFrom(0, 200, 204, 429, 499, 500);
  const call = fc.tuple(body, body, status, fc.boolean(), fc.boolean(), fc.boolean());
  await fc.assert(
    fc.asyncProperty(call, async ([request, response, status, truncated, omitRequest, omitResponse]) => {
      const record = buildRecord(
        logEntry({ status, truncated, omitRequest, omitResponse }, { request, response }),
      );
      const [stored] = await estimateUsage([record], counter, BUILT_IN_CATALOG);
      const { prompt_tokens, completion_tokens, total_tokens, usage_estimated } = stored!.request;
      for (const tokens of [prompt_tokens, completion_tokens, total_tokens]) {
        if (tokens !== null && !(Number.isInteger(tokens) && tokens >= 0))
          throw new Error(`${tokens} tokens`);
      }
      if (usage_estimated && record.uncounted === null) throw new Error('marked, and not counted');
    }),
    { numRuns: 2_000 },
  );
});
