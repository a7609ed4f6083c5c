import { calcPrice, waitForUpdate } from '@pydantic/genai-prices';
import fc from 'fast-check';
import t from 'tap';
import { textUsage, type Usage } from '#core/chat/mod.ts';
import { costOfTokens, createPriceCall, toPico } from '#core/models/mod.ts';

const priceCall = createPriceCall();
const registry = (await waitForUpdate()) ?? [];
const AT_MS = Date.parse('2026-06-01T12:00:00Z');

/** Every model of the providers whose name is the same here and there. */
const MODELS = ['openai', 'anthropic', 'google', 'mistral', 'groq', 'deepseek', 'openrouter'].flatMap(
  (provider) =>
    (registry.find(({ id }) => id === provider)?.models ?? []).map((model) => ({
      provider,
      model: model.id,
    })),
);

const count = fc.oneof(fc.nat(300), fc.nat(1_000_000), fc.constant(0));
const audioCount = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(100) });
const partCount = fc.oneof(fc.constant(0), fc.nat(50), fc.nat(10_000));
/** Contradictory ones too: more cached tokens than there are. */
const USAGES: Usage[] = fc.sample(
  fc.record({
    promptTokens: count,
    completionTokens: count,
    totalTokens: count,
    cachedTokens: count,
    cacheWriteTokens: partCount,
    cacheWriteHourTokens: partCount,
    reasoningTokens: partCount,
    inputAudioTokens: audioCount,
    outputAudioTokens: audioCount,
    inputImageTokens: audioCount,
    outputImageTokens: audioCount,
    webSearches: fc.constant(0),
    tier: fc.constant(null),
    isInUs: fc.constant(false),
    toldNano: fc.constant(null),
    advice: fc.constant([]),
  }),
  997,
);
const USAGES_A_MODEL = 12;

/** The registry's own arithmetic, for every call: nano-dollars, not rounded. */
function fromRegistry(provider: string, model: string, used: Usage): number | null {
  const quantities = {
    input_tokens: used.promptTokens,
    cache_read_tokens: used.cachedTokens,
    cache_audio_read_tokens: Math.max(0, used.cachedTokens + used.inputAudioTokens - used.promptTokens),
    cache_image_read_tokens: Math.max(0, used.cachedTokens + used.inputImageTokens - used.promptTokens),
    cache_write_tokens: used.cacheWriteTokens,
    cache_write_1h_tokens: Math.min(used.cacheWriteHourTokens, used.cacheWriteTokens),
    output_tokens: used.completionTokens,
    output_reasoning_tokens: Math.min(used.reasoningTokens, used.completionTokens),
    input_audio_tokens: used.inputAudioTokens,
    output_audio_tokens: used.outputAudioTokens,
    input_image_tokens: used.inputImageTokens,
    output_image_tokens: used.outputImageTokens,
  };
  try {
    const found = calcPrice(quantities, model, { providerId: provider, timestamp: new Date(AT_MS) });
    if (found === null) return null;
    // The registry counts audio without a price as text, which is right for Google's models alone.
    const { input_audio_mtok, output_audio_mtok } = found.model_price;
    const isGuess =
      (used.inputAudioTokens > 0 && input_audio_mtok === undefined) ||
      (used.outputAudioTokens > 0 && output_audio_mtok === undefined);
    return isGuess && provider !== 'google' ? null : found.total_price * 1e9;
  } catch {
    return null;
  }
}

t.test("every model has the registry's price, to the nano-dollar", async (t) => {
  t.ok(MODELS.length > 500);
  for (const [index, { provider, model }] of MODELS.entries()) {
    for (let number = 0; number < USAGES_A_MODEL; number += 1) {
      const usage = USAGES[(index * USAGES_A_MODEL + number) % USAGES.length]!;
      const cost = priceCall({ provider, models: [model], usage, atMs: AT_MS });
      const expected = fromRegistry(provider, model, usage);
      const what = `${provider}/${model} ${JSON.stringify(usage)}: ${cost}, not ${expected}`;
      if (cost === null || expected === null) {
        if (cost !== expected) t.fail(what);
      }
      // Half a nano-dollar of rounding, and what doubles lose in sums of this size.
      else if (Math.abs(cost - expected) > 0.5 + expected * 1e-12) t.fail(what);
    }
  }
});

t.test('a price that depends on the time of day is taken at the time of the call', async (t) => {
  const at = (time: string) => Date.parse(`2025-08-01T${time}:00Z`);
  const call = { provider: 'deepseek', models: ['deepseek-chat'], usage: textUsage(1_000_000, 0) };
  const costs = ['12:00', '20:00', '12:00'].map((time) => priceCall({ ...call, atMs: at(time) }));
  t.equal(costs[0], costs[2]);
  t.ok(costs[0]! > costs[1]!, 'less at night');
});

t.test('the cost is that of the model that answered, else of the requested one, else null', async (t) => {
  const usage = textUsage(1_000, 1_000);
  const cost = (...models: (string | null)[]) =>
    priceCall({ provider: 'openai', models, usage, atMs: AT_MS });
  t.equal(cost('gpt-4o-mini', 'gpt-4o'), 750_000);
  t.equal(cost('no-such-model', 'gpt-4o-mini'), 750_000);
  t.equal(cost('openai/gpt-4o-mini'), 750_000, 'the provider before the name is no other model');
  t.equal(cost('', null), null);
  // The last ones are names that every object has.
  for (const provider of ['custom', 'my own', 'constructor', '__proto__'])
    t.equal(priceCall({ provider, models: ['gpt-4o-mini'], usage, atMs: AT_MS }), null, provider);
});

t.test('tokens written to a cache cost more than input, and most when kept for an hour', async (t) => {
  const cost = (changes: Partial<Usage>) =>
    priceCall({
      provider: 'anthropic',
      models: ['claude-opus-4-5-20251101'],
      usage: { ...textUsage(1_000_000, 0), ...changes },
      atMs: AT_MS,
    });
  t.equal(cost({}), 5_000_000_000);
  t.equal(cost({ cachedTokens: 1_000_000 }), 500_000_000);
  t.equal(cost({ cacheWriteTokens: 1_000_000 }), 6_250_000_000);
  t.equal(cost({ cacheWriteTokens: 1_000_000, cacheWriteHourTokens: 400_000 }), 7_750_000_000);
  t.equal(
    cost({ cachedTokens: 600_000, cacheWriteTokens: 600_000 }),
    null,
    'more parts than there is of the whole',
  );
});

t.test('a price that grows with the size of the prompt applies to all its tokens', async (t) => {
  const cost = (promptTokens: number) =>
    priceCall({
      provider: 'google',
      models: ['gemini-2.5-pro'],
      usage: textUsage(promptTokens, 1_000),
      atMs: AT_MS,
    });
  t.equal(cost(200_000), 200_000 * 1_250 + 1_000 * 10_000);
  t.equal(cost(200_001), 200_001 * 2_500 + 1_000 * 15_000);
});

t.test('a call has the price of the tier of service that answered', async (t) => {
  const cost = (provider: string, model: string, how: Partial<Usage>) =>
    priceCall({ provider, models: [model], usage: { ...textUsage(1_000, 100), ...how }, atMs: AT_MS });
  const standard = 1_000 * 1_250 + 100 * 10_000;
  t.equal(cost('openai', 'gpt-5-2025-08-07', {}), standard);
  t.equal(cost('openai', 'gpt-5-2025-08-07', { tier: 'flex' }), standard / 2);
  t.equal(cost('openai', 'gpt-5-2025-08-07', { tier: 'priority' }), standard * 2);
  t.equal(cost('openai', 'gpt-4o-mini', { tier: 'priority' }), 1_000 * 250 + 100 * 1_000);
  t.equal(cost('openai', 'o3', { tier: 'flex' }), 1_000 * 1_000 + 100 * 4_000, 'also with several prices');
  t.equal(cost('openai', 'gpt-5-nano', { tier: 'priority' }), null, 'a price that nobody knows is none');
  t.equal(cost('google', 'gemini-2.5-flash', { tier: 'priority' }), 1_000 * 540 + 100 * 4_500);
  t.equal(cost('openrouter', 'openai/gpt-5', { tier: 'flex' }), cost('openrouter', 'openai/gpt-5', {}));
  t.equal(cost('anthropic', 'claude-opus-4-8', { tier: 'fast' }), 1_000 * 10_000 + 100 * 50_000);
  t.equal(cost('anthropic', 'claude-opus-4-8', { isInUs: true }), 1_000 * 5_500 + 100 * 27_500);
  t.equal(
    cost('anthropic', 'claude-opus-4-6', { tier: 'fast', isInUs: true }),
    1_000 * 33_000 + 100 * 165_000,
  );
  t.equal(cost('anthropic', 'claude-haiku-4-5', { tier: 'fast' }), null);
  t.equal(cost('anthropic', 'claude-opus-4-8', { tier: 'batch' }), 1_000 * 2_500 + 100 * 12_500);
  t.equal(
    cost('anthropic', 'claude-opus-4-8', { tier: 'batch', isInUs: true }),
    1_000 * 2_750 + 100 * 13_750,
  );
  t.equal(cost('azure', 'gpt-5-2025-08-07', { tier: 'priority' }), standard * 2, 'Azure has it, too');
  t.equal(cost('azure', 'gpt-5-nano', { tier: 'priority' }), null);
});

t.test('searches of the web have their price, whatever the tokens cost', async (t) => {
  const cost = (model: string, how: Partial<Usage>) =>
    priceCall({
      provider: 'anthropic',
      models: [model],
      usage: { ...textUsage(1_000, 100), ...how },
      atMs: AT_MS,
    });
  for (const model of ['claude-haiku-4-5', 'claude-opus-4-6', 'claude-opus-4-8']) {
    t.equal(cost(model, { webSearches: 3 })! - cost(model, {})!, 30_000_000, model);
    t.equal(
      cost(model, { webSearches: 3, isInUs: true })! - cost(model, { isInUs: true })!,
      30_000_000,
      `${model} in the US`,
    );
  }
});

t.test('a prompt of which audio and a part are cached has a price', async (t) => {
  const cost = (cachedTokens: number, inputAudioTokens: number) =>
    priceCall({
      provider: 'google',
      models: ['gemini-2.5-flash'],
      usage: { ...textUsage(1_000, 0), cachedTokens, inputAudioTokens },
      atMs: AT_MS,
    });
  t.equal(cost(300, 700), 300 * 30 + 700 * 1_000, 'all of the text was cached');
  t.equal(cost(400, 700), 300 * 30 + 100 * 100 + 600 * 1_000, 'and some of the audio');
});

t.test('audio of which the registry has no price has no cost, and is not counted as text', async (t) => {
  const cost = (provider: string, model: string, audio: Partial<Usage>) =>
    priceCall({ provider, models: [model], usage: { ...textUsage(1_000, 500), ...audio }, atMs: AT_MS });
  t.equal(cost('openai', 'gpt-audio', { inputAudioTokens: 300, outputAudioTokens: 200 }), 27_150_000);
  t.equal(cost('openai', 'gpt-4o-audio-preview', {}), 7_500_000, 'text alone');
  t.equal(cost('openai', 'gpt-4o-audio-preview', { inputAudioTokens: 300 }), null);
  t.equal(cost('openai', 'gpt-4o-audio-preview', { outputAudioTokens: 200 }), null);
  t.equal(cost('google', 'gemini-2.5-pro', { inputAudioTokens: 300 }), 6_250_000, 'where both cost the same');
});

t.test('images have their own prices, and that of text where they have none', async (t) => {
  const cost = (provider: string, model: string, images: Partial<Usage>) =>
    priceCall({ provider, models: [model], usage: { ...textUsage(1_000, 100), ...images }, atMs: AT_MS });
  const images = { inputImageTokens: 800, outputImageTokens: 60 };
  t.equal(cost('openai', 'gpt-image-1.5', images), 200 * 5_000 + 800 * 8_000 + 40 * 10_000 + 60 * 32_000);
  t.equal(
    cost('openai', 'gpt-image-1.5', { ...images, cachedTokens: 500 }),
    200 * 1_250 + 300 * 2_000 + 500 * 8_000 + 40 * 10_000 + 60 * 32_000,
    'all of the text was cached, and the rest of what was cached is images',
  );
  t.equal(cost('openai', 'gpt-4o', images), cost('openai', 'gpt-4o', {}));
  t.equal(
    cost('xai', 'grok-4', { ...images, cachedTokens: 900 }),
    cost('xai', 'grok-4', { cachedTokens: 900 }),
  );
});

t.test('a call has the price of its day', async (t) => {
  const cost = (day: string) =>
    priceCall({ provider: 'openai', models: ['o3'], usage: textUsage(1_000, 0), atMs: Date.parse(day) });
  t.equal(cost('2025-06-01'), 10_000_000);
  t.equal(cost('2025-07-01'), 2_000_000);
});

t.test('costs are exact: a call split in two costs the same as the whole, however large', async () => {
  const price = { cacheRead: null, cacheWrite: null, cacheWriteHour: null, reasoning: null, webSearch: null };
  const tokens = fc.nat(50_000_000);
  const pico = fc.bigInt(0n, 10_000_000n).map((amount) => amount * 1_000n);
  fc.assert(
    fc.property(pico, pico, tokens, tokens, (input, output, first, second) => {
      const cost = (count: number) => costOfTokens({ ...price, input, output }, textUsage(count, count));
      const whole = (BigInt(first) + BigInt(second)) * ((input + output) / 1_000n);
      if (BigInt(cost(first)!) + BigInt(cost(second)!) !== whole) throw new Error(`${whole}`);
    }),
  );
});

t.test('a price has at most six decimals', async (t) => {
  for (const [usd, pico] of [
    [0.075, 75_000n],
    [0.000001, 1n],
    [6.5625, 6_562_500n],
    [1_000_000, 1_000_000_000_000n],
    [0, 0n],
    [0.0000001, null],
    [0.1234567, null],
  ] as const) {
    t.equal(toPico(usd), pico, String(usd));
  }
});

t.test('OpenRouter’s calls cost what it says, and those of no other provider', async (t) => {
  const cost = (provider: string, model: string, toldNano: number | null) =>
    priceCall({ provider, models: [model], usage: { ...textUsage(1_000, 100), toldNano }, atMs: AT_MS });
  t.equal(cost('openrouter', 'a-model/nobody-knows', 140_000), 140_000);
  t.equal(cost('openrouter', 'a-model/nobody-knows', null), null);
  t.equal(cost('openai', 'gpt-4o', 1), cost('openai', 'gpt-4o', null));
});
