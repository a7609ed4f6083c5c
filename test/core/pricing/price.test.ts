import { calcPrice, waitForUpdate } from '@pydantic/genai-prices';
import fc from 'fast-check';
import t from 'tap';
import type { Usage } from '#core/chat/mod.ts';
import { priceCall } from '#core/pricing/mod.ts';

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
/** Contradictory ones too: more cached tokens than there are. */
const USAGES: Usage[] = fc.sample(
  fc.record({
    promptTokens: count,
    completionTokens: count,
    totalTokens: count,
    cachedTokens: count,
    inputAudioTokens: audioCount,
    outputAudioTokens: audioCount,
  }),
  997,
);
const USAGES_A_MODEL = 12;

/** The registry's own arithmetic, for every call. */
function fromRegistry(provider: string, model: string, used: Usage): number | null {
  const quantities = {
    input_tokens: used.promptTokens,
    cache_read_tokens: used.cachedTokens,
    output_tokens: used.completionTokens,
    input_audio_tokens: used.inputAudioTokens,
    output_audio_tokens: used.outputAudioTokens,
  };
  try {
    const found = calcPrice(quantities, model, { providerId: provider, timestamp: new Date(AT_MS) });
    return found === null ? null : Math.round(found.total_price * 1e9);
  } catch {
    return null;
  }
}

t.test('every model of the registry costs what the registry says, to the nano-dollar', async (t) => {
  t.ok(MODELS.length > 500);
  for (const [index, { provider, model }] of MODELS.entries()) {
    for (let number = 0; number < USAGES_A_MODEL; number += 1) {
      const usage = USAGES[(index * USAGES_A_MODEL + number) % USAGES.length]!;
      const cost = priceCall({ provider, models: [model], usage, atMs: AT_MS });
      const expected = fromRegistry(provider, model, usage);
      if (cost !== expected) t.equal(cost, expected, `${provider}/${model} ${JSON.stringify(usage)}`);
    }
  }
});

t.test('a price that changes with the time of day is that of the time of the call', async (t) => {
  const at = (time: string) => Date.parse(`2025-08-01T${time}:00Z`);
  const usage = { ...USAGES[0]!, promptTokens: 1_000_000, completionTokens: 0, cachedTokens: 0 };
  const call = { provider: 'deepseek', models: ['deepseek-chat'], usage: { ...usage, inputAudioTokens: 0 } };
  const costs = ['12:00', '20:00', '12:00'].map((time) => priceCall({ ...call, atMs: at(time) }));
  t.equal(costs[0], costs[2]);
  t.ok(costs[0]! > costs[1]!, 'less at night');
});

t.test('the model that answered decides, else the one asked for, else there is no cost', async (t) => {
  const usage = { ...USAGES[0]!, promptTokens: 1_000, completionTokens: 1_000, cachedTokens: 0 };
  const cost = (...models: (string | null)[]) =>
    priceCall({
      provider: 'openai',
      models,
      usage: { ...usage, inputAudioTokens: 0, outputAudioTokens: 0 },
      atMs: AT_MS,
    });
  t.equal(cost('gpt-4o-mini', 'gpt-4o'), 750_000);
  t.equal(cost('no-such-model', 'gpt-4o-mini'), 750_000);
  t.equal(cost('', null), null);
  t.equal(priceCall({ provider: 'custom', models: ['gpt-4o-mini'], usage, atMs: AT_MS }), null);
});
