/** Calls with tokens and no known price: stored without a cost, and told to the operator once for each model. */
import { pino } from 'pino';
import t from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import type { BatchEntry } from '../../../ingest/prepare-batch.ts';
import { BatchStore, type UnpricedCall } from '../../../ingest/store-batch.ts';
import { createUnpricedReport } from '../../../ingest/unpriced.ts';
import { logEntry } from '../../support/log-entries.ts';
import { databaseFor } from '../../support/world.ts';

const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

function entryOf(
  provider: string,
  model: string,
  more: { usage?: unknown; cachedFrom?: string } = {},
): BatchEntry {
  const { usage = USAGE, ...head } = more;
  return {
    ...logEntry({ provider, requestModel: model, ...head }, { response: { model, usage } }),
    origin: 'test/1',
  };
}

t.test('stored calls with tokens and without a price are reported, and no others', async (t) => {
  const database = await databaseFor(t);
  const unpriced: UnpricedCall[] = [];
  const store = new BatchStore({
    sql: database.sql,
    log: createLogger({ role: 'test', level: 'silent' }),
    clock: systemClock,
    retentionDays: null,
    onUnpriced: (calls) => unpriced.push(...calls),
  });
  await store.store({
    entries: [
      entryOf('OPENAI', 'gpt-4o-mini'),
      entryOf('CUSTOM', 'dark-horse'),
      entryOf('CUSTOM', 'no-usage', { usage: null }),
      entryOf('OPENAI', 'gpt-99'),
      entryOf('CUSTOM', 'answered-before', { cachedFrom: logEntry().id }),
    ],
  });
  t.same(unpriced, [
    { provider: 'CUSTOM', model: 'dark-horse' },
    { provider: 'OPENAI', model: 'gpt-99' },
  ]);
  const costs = await database.sql<
    { model: string; cost_nano: string | null; price_source: string | null }[]
  >`
    select model, cost_nano, price_source from assay.requests order by model`;
  t.match(costs, [
    { model: 'answered-before', cost_nano: '0' },
    { model: 'dark-horse', cost_nano: null, price_source: null },
    { model: 'gpt-4o-mini', cost_nano: /^[1-9]/, price_source: /^genai-prices@/ },
    { model: 'gpt-99', cost_nano: null, price_source: null },
    { model: 'no-usage', cost_nano: null, price_source: null },
  ]);
});

t.test('a model without a price is logged once, however often it is called', async (t) => {
  const lines: { provider: string; model: string; level: number }[] = [];
  const report = createUnpricedReport(pino({}, { write: (line) => lines.push(JSON.parse(line)) }));
  for (let round = 0; round < 3; round += 1) {
    report([
      { provider: 'CUSTOM', model: 'a' },
      { provider: 'CUSTOM', model: 'b' },
      { provider: 'AZURE', model: 'a' },
      { provider: 'CUSTOM', model: 'a' },
    ]);
  }
  const warned = lines.map(({ provider, model, level }) => `${level} ${provider} ${model}`);
  t.same(warned, ['40 CUSTOM a', '40 CUSTOM b', '40 AZURE a']);
});
