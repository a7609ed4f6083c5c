/** A store that counts the tokens which providers did not count, and what it wrote. */
import type { Test } from 'tap';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { BatchStore, type BatchStoreOptions } from '../../../ingest/store-batch.ts';
import { createTokenCounter } from '../../../ingest/tokens/mod.ts';
import { logEntry } from '../../support/log-entries.ts';
import { databaseFor } from '../../support/world.ts';

export type Stored = {
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  cost_nano: number | null;
  price_source: string | null;
  usage_estimated: boolean;
};

export type Call = { head?: Partial<LogEntryHead>; request?: unknown; response?: unknown };

export const QUESTION = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] };
export const chat = (message: object, more: object = {}) => ({
  id: 'c1',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', ...message } }],
  ...more,
});
export const GREETING = chat({ content: 'Hello! How can I assist you today?' });
/** Of gpt-4o-mini, in nano-dollars a token. */
export const PRICE = { prompt: 150, completion: 600 };
export const UNKNOWN: Stored = {
  prompt_tokens: null,
  completion_tokens: null,
  total_tokens: null,
  cost_nano: null,
  price_source: null,
  usage_estimated: false,
};

/** Starts a database, a counter of tokens and stores with both, all until the end of the file. */
export async function startUsageWorld(t: Test) {
  const { sql } = await databaseFor(t);
  const counter = createTokenCounter({
    clock: systemClock,
    onFailure: (error) => {
      throw error;
    },
    timeoutMs: 30_000,
  });
  t.teardown(() => counter.close());

  /** A store with a counter, unless told otherwise. */
  function storeWith(more: Partial<BatchStoreOptions> = {}): BatchStore {
    const log = createLogger({ role: 'test', level: 'silent' });
    return new BatchStore({ sql, log, clock: systemClock, retentionDays: null, counter, ...more });
  }

  /** Stores calls in one batch, and returns what became of their tokens, in order. */
  async function store(calls: readonly Call[], into = storeWith()): Promise<Stored[]> {
    const entries = calls.map(({ head, request = QUESTION, response }) => ({
      ...logEntry(head, { request, response }),
      origin: 'test/1',
    }));
    await into.store({ entries });
    const rows = await sql<(Stored & { request_id: string })[]>`
      select request_id, prompt_tokens, completion_tokens, total_tokens, cost_nano::float8 as cost_nano, price_source,
             usage_estimated
        from assay.requests where request_id = any(${entries.map(({ id }) => id)})`;
    return entries.map(({ id }) => rows.find((row) => row.request_id === id)!);
  }

  /** Checks that the record of a call has no tokens, no cost and no mark. */
  const checkUnknown = async (t: Test, what: string, call: Call, into?: BatchStore) => {
    const [row] = await store([call], into);
    t.match(row, UNKNOWN, what);
  };

  /** Stores a stream as far as it came, and returns its record. */
  async function storeStream(head: Partial<LogEntryHead>, events: string): Promise<Stored> {
    const { id, ...entry } = logEntry({ stream: true, truncated: true, ...head }, { request: QUESTION });
    await storeWith().store({ entries: [{ ...entry, origin: 'test/1', responseBody: Buffer.from(events) }] });
    const [row] = await sql<Stored[]>`select * from assay.requests where request_id = ${id}`;
    return row!;
  }

  return { sql, counter, storeWith, store, storeStream, checkUnknown };
}
