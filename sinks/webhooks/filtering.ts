/** Applies the filters of webhooks to a batch, within a time for each organization. */
import { AssayError } from '#core/contracts/errors.ts';
import { isCancelled, isStoreUnavailable, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { BatchLate } from '../feed/mod.ts';
import type { Known } from './known.ts';
import { nameOfKey, passFilter } from './matching.ts';
import type { Patience } from './patience.ts';
import type { Pause, SinkWebhook } from './webhooks.ts';

/**
 * While a batch is applied, no sink sees later commits, so the filters of one organization must not take long. By an index a
 * filter takes some 10 µs for a request, by texts in bodies up to 1 ms.
 */
const BUDGET_MS = 1_000;
/**
 * Share of that time which each filter has even when others have used all of it: less, and one slow filter would pause every other
 * webhook of its organization; more, and 20 slow ones would take longer in the batch that pauses them.
 */
const OWN_SHARE = 0.1;

export type Filtering = {
  /**
   * Returns the happenings that pass a webhook's filter, or the reason to pause it.
   * @throws BatchLate for a filter that took too long and is to be tried again
   */
  pass(
    webhook: SinkWebhook,
    asked: readonly Known[],
  ): Promise<{ known: readonly Known[] } | { pause: Pause }>;
};

export function createFiltering(
  tx: TransactionSql,
  patience: Patience,
  { clock, filterBudgetMs = BUDGET_MS }: { clock: Clock; filterBudgetMs?: number },
): Filtering {
  const spentMs = new Map<string, number>();
  return {
    async pass(webhook, asked) {
      const { organizationId, filter } = webhook;
      // A null filter needs no requests, and neither does a happening about none.
      const filtered = filter === null ? [] : asked.filter(({ facts }) => facts !== null);
      if (filtered.length === 0) return { known: asked };
      const keys = new Map(filtered.map(({ happening }) => [nameOfKey(happening.key!), happening.key!]));
      const spent = spentMs.get(organizationId) ?? 0;
      const began = clock.monotonic();
      try {
        const timeoutMs = Math.max(filterBudgetMs - spent, filterBudgetMs * OWN_SHARE);
        const found = await passFilter(tx, organizationId, filter, [...keys.values()], timeoutMs);
        patience.noteInTime(webhook);
        const passing = new Set(found.map(nameOfKey));
        return {
          known: asked.filter(
            ({ facts, happening }) => facts === null || passing.has(nameOfKey(happening.key!)),
          ),
        };
      } catch (error) {
        if (isCancelled(error) && patience.isLeft(webhook)) {
          throw new BatchLate(
            `a filter of organization ${organizationId} took too long for ${keys.size} requests`,
          );
        }
        const message = pauseMessage(error, keys.size, filterBudgetMs);
        const first = Math.min(...asked.map(({ happening }) => happening.at.getTime()));
        const { webhookId } = webhook;
        return { pause: { webhookId, reason: 'filter', message, missedFrom: new Date(first) } };
      } finally {
        spentMs.set(organizationId, spent + clock.monotonic() - began);
      }
    },
  };
}

/** @throws the error, when it is none of the filter's */
function pauseMessage(error: unknown, requests: number, budgetMs: number): string {
  if (isStoreUnavailable(error)) throw error;
  if (error instanceof AssayError) return error.message;
  // Not the message of Postgres: it may quote a text of a request.
  if (isCancelled(error)) {
    return `The filters of the organization's webhooks took more than ${budgetMs} ms for ${requests} requests`;
  }
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string') return `Postgres could not apply the filter (SQLSTATE ${code})`;
  throw error;
}
