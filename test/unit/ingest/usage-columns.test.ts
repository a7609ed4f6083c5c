import t from 'tap';
import { usageColumns } from '../../../ingest/usage-columns.ts';

const row = { provider: 'OPENAI', response_model: 'gpt-4o', routedModel: null, created_at: new Date(0) };
const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };
const priced = { costOf: () => ({ nano: 700, source: 'test' }) } as never;
const unpriced = { costOf: () => null } as never;

t.test('an answer from the cache costs nothing, and saves what it would have cost', async (t) => {
  const cached = { ...row, cached_from: 'original' };
  t.match(usageColumns(cached, usage as never, priced), { cost_nano: 0, cost_saved_nano: 700 });
  t.match(usageColumns(cached, usage as never, unpriced), { cost_nano: 0, cost_saved_nano: null });
  t.match(usageColumns(cached, null, priced), { cost_nano: 0, cost_saved_nano: null });
});

t.test('an answer of a provider saves nothing', async (t) => {
  const answered = { ...row, cached_from: null };
  t.match(usageColumns(answered, usage as never, priced), { cost_nano: 700, cost_saved_nano: null });
});
