import type { Usage } from '#core/chat/mod.ts';
import type { Catalog } from '#core/models/mod.ts';
import { PRICE_SOURCE } from '#core/models/mod.ts';
import type { RequestRow } from './request-row.ts';

/** The columns that a call's price depends on, besides its usage. */
export type PricedRow = Pick<RequestRow, 'provider' | 'response_model' | 'created_at' | 'cached_from'> & {
  /** The model's name at the provider. */
  routedModel: string | null;
};

/** The columns of a call's usage and cost. */
export type UsageColumns = Pick<
  RequestRow,
  'prompt_tokens' | 'completion_tokens' | 'total_tokens' | 'cost_nano' | 'cost_saved_nano' | 'price_source'
>;

/**
 * Returns a call's tokens and their cost: null without a known price. An answer from the cache costs 0, and saves its usual
 * cost.
 */
export function usageColumns(
  row: PricedRow,
  usage: Usage | null,
  catalog: Pick<Catalog, 'costOf'>,
): UsageColumns {
  const isCached = row.cached_from !== null;
  const price = usage === null ? null : priceOf(row, usage, catalog);
  const cost = isCached ? { nano: 0, source: PRICE_SOURCE } : price;
  return {
    prompt_tokens: usage?.promptTokens ?? null,
    completion_tokens: usage?.completionTokens ?? null,
    total_tokens: usage?.totalTokens ?? null,
    cost_nano: cost?.nano ?? null,
    cost_saved_nano: isCached ? (price?.nano ?? null) : null,
    price_source: cost?.source ?? null,
  };
}

function priceOf(row: PricedRow, usage: Usage, catalog: Pick<Catalog, 'costOf'>) {
  return catalog.costOf({
    provider: row.provider.toLowerCase(),
    models: [row.response_model, row.routedModel],
    usage,
    atMs: row.created_at.getTime(),
  });
}
