import type { Usage } from '#core/chat/mod.ts';
import type { Catalog } from '#core/models/mod.ts';
import { PRICE_SOURCE } from '#core/models/mod.ts';
import type { RequestRow } from './request-row.ts';

/** What a call's price depends on, beside its usage. */
export type PricedRow = Pick<RequestRow, 'provider' | 'response_model' | 'created_at' | 'cached_from'> & {
  /** What the provider was asked for. */
  routedModel: string | null;
};

export type UsageColumns = Pick<
  RequestRow,
  'prompt_tokens' | 'completion_tokens' | 'total_tokens' | 'cost_nano' | 'price_source'
>;

/** A call's tokens, and what they cost. No cost where no price is known; what was answered before costs nothing again. */
export function usageColumns(
  row: PricedRow,
  usage: Usage | null,
  catalog: Pick<Catalog, 'costOf'>,
): UsageColumns {
  const cost = usage === null ? null : costOf(row, usage, catalog);
  return {
    prompt_tokens: usage?.promptTokens ?? null,
    completion_tokens: usage?.completionTokens ?? null,
    total_tokens: usage?.totalTokens ?? null,
    cost_nano: cost?.nano ?? null,
    price_source: cost?.source ?? null,
  };
}

function costOf(row: PricedRow, usage: Usage, catalog: Pick<Catalog, 'costOf'>) {
  if (row.cached_from !== null) return { nano: 0, source: PRICE_SOURCE };
  return catalog.costOf({
    provider: row.provider.toLowerCase(),
    models: [row.response_model, row.routedModel],
    usage,
    atMs: row.created_at.getTime(),
  });
}
