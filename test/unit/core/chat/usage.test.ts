import t from 'tap';
import { readUsage, textUsage } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';

const read = (usage: unknown) => readUsage({ usage } as JsonObject);

t.test('usage of a chat completion has cached, written, reasoning, audio and image tokens', async (t) => {
  t.same(
    read({
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 30, audio_tokens: 4, image_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 40, audio_tokens: 5, image_tokens: 7 },
    }),
    {
      promptTokens: 100,
      completionTokens: 50,
      totalTokens: 150,
      cachedTokens: 20,
      cacheWriteTokens: 30,
      cacheWriteHourTokens: 0,
      reasoningTokens: 40,
      inputAudioTokens: 4,
      outputAudioTokens: 5,
      inputImageTokens: 6,
      outputImageTokens: 7,
      webSearches: 0,
      tier: null,
      isInUs: false,
      toldNano: null,
      advice: [],
    },
  );
});

t.test('usage has the tier of service, where it has prices of its own', async (t) => {
  const counts = { prompt_tokens: 3, completion_tokens: 4 };
  const tierOf = (answer: JsonObject) => readUsage({ usage: counts, ...answer })?.tier;
  t.equal(tierOf({ service_tier: 'flex' }), 'flex');
  t.equal(tierOf({ service_tier: 'priority' }), 'priority');
  for (const tier of [undefined, null, 'default', 'auto', 'on_demand', { priority: 1 }])
    t.equal(tierOf({ service_tier: tier }), null, String(tier));
  const message = { input_tokens: 3, output_tokens: 4, service_tier: 'priority', speed: 'standard' };
  t.same(read(message), textUsage(3, 4), "Anthropic's priority is paid for in advance");
  t.same(read({ ...message, speed: 'fast', inference_geo: 'us' }), {
    ...textUsage(3, 4),
    tier: 'fast',
    isInUs: true,
  });
  t.equal(read({ ...message, inference_geo: 'global' })?.isInUs, false);
  t.equal(read({ ...message, service_tier: 'batch' })?.tier, 'batch');
  t.equal(
    readUsage({ usage: { input_tokens: 0, output_tokens: 0, speed: 'fast', inference_geo: 'us' } }),
    null,
  );
});

t.test('usage of the images API has the tokens of images apart', async (t) => {
  const answer = {
    input_tokens: 50,
    output_tokens: 4_160,
    total_tokens: 4_210,
    input_tokens_details: { text_tokens: 10, image_tokens: 40 },
    output_tokens_details: { text_tokens: 100, image_tokens: 4_060 },
  };
  t.same(read(answer), { ...textUsage(50, 4_160), inputImageTokens: 40, outputImageTokens: 4_060 });
});

t.test('usage of Messages has the advice of other models apart', async (t) => {
  const advised = {
    type: 'advisor_message',
    model: 'claude-opus-4-7',
    input_tokens: 2_728,
    output_tokens: 874,
  };
  const usage = {
    input_tokens: 2_414,
    output_tokens: 3_200,
    inference_geo: 'us',
    iterations: [
      { type: 'message', input_tokens: 1_051, output_tokens: 35 },
      { ...advised, cache_read_input_tokens: 10, cache_creation_input_tokens: 20 },
      { type: 'message', input_tokens: 1_363, output_tokens: 3_165 },
      { type: 'advisor_message', input_tokens: 1, output_tokens: 1 },
      { type: 'advisor_message', model: 'claude-opus-4-7' },
    ],
  };
  const advice = { ...textUsage(2_758, 874), cachedTokens: 10, cacheWriteTokens: 20, isInUs: true };
  t.same(read(usage), {
    ...textUsage(2_414, 3_200),
    isInUs: true,
    advice: [{ model: 'claude-opus-4-7', usage: advice }],
  });
});

t.test('usage of Messages has the searches of the web', async (t) => {
  const usage = { input_tokens: 3, output_tokens: 4, server_tool_use: { web_search_requests: 2 } };
  t.same(read(usage), { ...textUsage(3, 4), webSearches: 2 });
});

t.test('a completion with only its prompt counted has no usage', async (t) => {
  const usage = { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 20 } };
  t.equal(readUsage({ choices: [], usage }), null);
  t.match(readUsage({ data: [], usage }), { promptTokens: 100 }, 'of embeddings that is all');
  t.match(readUsage({ choices: [], usage: { ...usage, total_tokens: 100 } }), { promptTokens: 100 });
});

t.test('reasoning tokens that only the total includes are added to the completion', async (t) => {
  const details = { completion_tokens_details: { reasoning_tokens: 300 } };
  const apart = read({ prompt_tokens: 10, completion_tokens: 20, total_tokens: 330, ...details });
  t.match(apart, { completionTokens: 320, reasoningTokens: 300, totalTokens: 330 }, 'as xAI counts');
  const within = read({ prompt_tokens: 10, completion_tokens: 320, total_tokens: 330, ...details });
  t.match(within, { completionTokens: 320, reasoningTokens: 300, totalTokens: 330 }, 'as OpenAI counts');
});

t.test("tokens that Gemini's total has beyond prompt and completion are reasoning tokens", async (t) => {
  const usage = { prompt_tokens: 17, completion_tokens: 2, total_tokens: 49 };
  const paid = { promptTokens: 17, completionTokens: 32, reasoningTokens: 30, totalTokens: 49 };
  for (const model of ['gemini-2.5-flash', 'models/gemini-2.5-pro', 'google/Gemini-3-flash']) {
    t.match(readUsage({ model, usage }), paid, model);
  }
  t.match(readUsage({ model: 'gemini', usage: { ...usage, completion_tokens: 0 } }), {
    completionTokens: 32,
  });
  const told = { ...usage, completion_tokens_details: { reasoning_tokens: 20 } };
  t.match(readUsage({ model: 'gemini', usage: told }), { completionTokens: 2, reasoningTokens: 20 });
});

t.test('an unexplained total changes no other count', async (t) => {
  const usage = { prompt_tokens: 17, completion_tokens: 2, total_tokens: 49 };
  const asTold = { promptTokens: 17, completionTokens: 2, reasoningTokens: 0, totalTokens: 49 };
  for (const model of ['gpt-5', undefined, null, 7]) t.match(readUsage({ model, usage }), asTold, `${model}`);
  const low = { ...usage, total_tokens: 3 };
  t.match(readUsage({ model: 'gemini', usage: low }), { completionTokens: 2, totalTokens: 3 });
  const embeddings = { prompt_tokens: 8, total_tokens: 9 };
  t.match(readUsage({ model: 'gemini-embedding-001', usage: embeddings }), { completionTokens: 0 });
});

t.test('cached tokens that exceed the prompt are added to it when the total includes them', async (t) => {
  // As xAI counts for some of its models.
  const usage = (total: number, reasoning = 0) => ({
    prompt_tokens: 410,
    completion_tokens: 25,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: 430 },
    completion_tokens_details: { reasoning_tokens: reasoning },
  });
  const beside = { promptTokens: 840, cachedTokens: 430 };
  t.match(read(usage(865)), { ...beside, completionTokens: 25, totalTokens: 865 });
  t.match(read(usage(965, 100)), { ...beside, completionTokens: 125, reasoningTokens: 100 });
  t.match(read(usage(865, 15)), { ...beside, completionTokens: 25, reasoningTokens: 15 });
  t.match(read(usage(435)), { promptTokens: 410, completionTokens: 25 }, 'which this does not');
  t.match(read(usage(866)), { promptTokens: 410, completionTokens: 25 }, 'nor this');
  const within = { ...usage(465), prompt_tokens_details: { cached_tokens: 30 } };
  t.match(read(within), { promptTokens: 410, cachedTokens: 30 }, 'nor are fewer beside it');
});

t.test('cached tokens of Messages are added to the input', async (t) => {
  const usage = read({
    input_tokens: 9,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 20,
    cache_creation: { ephemeral_5m_input_tokens: 8, ephemeral_1h_input_tokens: 12 },
    output_tokens: 16,
    output_tokens_details: { thinking_tokens: 6 },
  });
  t.same(usage, {
    ...textUsage(34, 16),
    cachedTokens: 5,
    cacheWriteTokens: 20,
    cacheWriteHourTokens: 12,
    reasoningTokens: 6,
  });
});

t.test('cached tokens of Responses are part of the input', async (t) => {
  const usage = read({
    input_tokens: 34,
    input_tokens_details: { cached_tokens: 5, cache_write_tokens: 20 },
    output_tokens: 16,
    output_tokens_details: { reasoning_tokens: 6 },
    total_tokens: 50,
  });
  t.same(usage, { ...textUsage(34, 16), cachedTokens: 5, cacheWriteTokens: 20, reasoningTokens: 6 });
});

t.test('the usage of a compaction is added to that of a Messages answer', async (t) => {
  const usage = read({
    input_tokens: 612,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 2_819,
    iterations: [
      {
        type: 'compaction',
        input_tokens: 60_385,
        cache_read_input_tokens: 7,
        cache_creation_input_tokens: 3,
        output_tokens: 522,
      },
      { type: 'message', input_tokens: 612, output_tokens: 2_819 },
      null,
    ],
  });
  t.same(usage, { ...textUsage(612 + 60_385 + 7 + 3, 2_819 + 522), cachedTokens: 7, cacheWriteTokens: 3 });
});

t.test('embeddings have a prompt only; moderations have no usage', async (t) => {
  t.same(read({ prompt_tokens: 8, total_tokens: 8 }), textUsage(8, 0));
  t.equal(readUsage({ id: 'modr-1', model: 'omni-moderation-latest', results: [{ flagged: false }] }), null);
});

t.test('a sum of tokens is limited to the maximum count', async (t) => {
  const most = 2_000_000_000;
  t.match(read({ input_tokens: most, cache_read_input_tokens: most, output_tokens: most }), {
    promptTokens: most,
    completionTokens: most,
    totalTokens: most,
  });
  t.match(read({ prompt_tokens: most, completion_tokens: most }), { totalTokens: most });
});

t.test("DeepSeek's cached tokens have a name of their own", async (t) => {
  t.match(read({ prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 4 }), { cachedTokens: 4 });
});

t.test('usage with only zeros is no usage', async (t) => {
  t.equal(read({ prompt_tokens: 0, total_tokens: 0 }), null);
  t.equal(read({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }), null);
  t.equal(read({ input_tokens: 0, output_tokens: 0 }), null);
  t.same(read({ prompt_tokens: 0, completion_tokens: 1 }), textUsage(0, 1));
});

t.test('impossible counts are ignored', async (t) => {
  for (const usage of [
    undefined,
    null,
    [],
    7,
    {},
    { prompt_tokens: '10' },
    { prompt_tokens: -1 },
    { input_tokens: 3e9 },
  ]) {
    t.equal(read(usage), null, JSON.stringify(usage));
  }
  t.same(
    read({ prompt_tokens: 7.9, completion_tokens: null, prompt_tokens_details: 'none' }),
    textUsage(7, 0),
  );
});

t.test(
  'what a provider says that a call cost is read, with the price of the model by an own key',
  async (t) => {
    const told = (more: JsonObject) =>
      readUsage({ usage: { prompt_tokens: 3, completion_tokens: 4, ...more } })!.toldNano;
    t.equal(told({ cost: 0.00014 }), 140_000);
    t.equal(told({ cost: 0 }), 0, 'free models cost nothing');
    const details = { upstream_inference_cost: 19 };
    t.equal(told({ cost: 0.95, cost_details: details }), 950_000_000, 'it is in the cost');
    t.equal(told({ cost: 0.95, is_byok: true, cost_details: details }), 19_950_000_000);
    for (const cost of [undefined, null, '1', -1, Number.NaN, 1e9])
      t.equal(told({ cost }), null, String(cost));
    t.equal(told({ cost: 1, is_byok: true, cost_details: { upstream_inference_cost: null } }), null);
  },
);
