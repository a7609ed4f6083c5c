import type { SortField } from '#core/contracts/query.ts';

/** The columns of `assay.requests` that queries are sorted by. */
export const SORT_COLUMNS: Readonly<Record<SortField, string>> = {
  created_at: 'created_at',
  latency: 'latency_ms',
  cost: 'cost_nano',
  tokens: 'total_tokens',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'completion_tokens',
  time_to_first_token: 'ttft_ms',
};
