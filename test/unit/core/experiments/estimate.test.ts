import t from 'tap';
import { estimateCost } from '#core/experiments/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { createCatalog } from '#core/models/mod.ts';

t.test('the estimate of a call is above its cost, and grows with its limit and its choices', async (t) => {
  const catalog = createCatalog(null);
  const estimate = (request: JsonObject, model = 'gpt-4o-mini') =>
    estimateCost(catalog, { kind: 'model', model }, { request, metadata: {} }, Date.now());
  const messages = [{ role: 'user', content: 'x'.repeat(4_000) }];
  // Input at 0.15 and output at 0.60 US dollars a million tokens: 1,000 tokens of text in, 100 out.
  const real = 1_000 * 150 + 100 * 600;
  const small = estimate({ messages, max_tokens: 100 })!;
  t.ok(small > real && small < 5 * real, String(small));
  t.ok(estimate({ messages, max_tokens: 1_000 })! > small);
  t.ok(estimate({ messages, max_tokens: 100, n: 4 })! > small);
  t.ok(
    estimate({ messages })! > estimate({ messages, max_tokens: 1_000 })!,
    'without a limit an answer may be long',
  );
  t.equal(estimate({ messages }, 'a-model-that-nobody-has'), null);
  t.equal(estimate({ messages }, Array(11).fill('gpt-4o').join()), null, 'no gateway takes so many models');
  t.ok(
    estimate({ messages }, 'gpt-4o-mini,gpt-4o')! >= estimate({ messages }, 'gpt-4o')!,
    'of a list the most expensive model counts',
  );
});
