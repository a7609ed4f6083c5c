import { textUsage, type Usage } from '#core/chat/mod.ts';
import type { Catalog } from '#core/models/mod.ts';
import type { BuiltRecord, StorableRecord } from './build-record.ts';
import type { Countable, TokenCounter } from './tokens/mod.ts';
import type { Side, Uncounted } from './uncounted.ts';
import { usageColumns } from './usage-columns.ts';

type Counted = Pick<Uncounted, 'begun'> &
  Pick<BuiltRecord, 'routedModel'> & { prompt: number | null; completion: number | null };

/**
 * Adds the tokens that providers did not count to records, and the resulting costs. The texts of a batch are counted
 * together; a record whose tokens cannot be counted stays without them.
 */
export async function estimateUsage(
  records: readonly BuiltRecord[],
  counter: Pick<TokenCounter, 'count'>,
  catalog: Pick<Catalog, 'costOf'>,
): Promise<StorableRecord[]> {
  const countables = records.flatMap(({ uncounted }) =>
    uncounted === null ? [] : [uncounted.prompt, uncounted.completion].filter(isCountable),
  );
  const counts = countables.length === 0 ? [] : await counter.count(countables.map(({ text }) => text));
  const counted = new Map(countables.map((countable, index) => [countable, counts[index] ?? null]));

  const tokensOf = (side: Side): number | null => {
    if (!isCountable(side)) return side;
    const tokens = counted.get(side) ?? null;
    return tokens === null ? null : Math.max(0, tokens + side.extraTokens);
  };
  return records.map(({ uncounted, routedModel, ...record }) => {
    if (uncounted === null) return record;
    const tokens = { prompt: tokensOf(uncounted.prompt), completion: tokensOf(uncounted.completion) };
    const { begun } = uncounted;
    return withTokens(record, { begun, routedModel, ...tokens }, catalog);
  });
}

function isCountable(side: Side): side is Countable {
  return typeof side === 'object' && side !== null;
}

function withTokens(
  record: StorableRecord,
  { begun, routedModel, prompt, completion }: Counted,
  catalog: Pick<Catalog, 'costOf'>,
): StorableRecord {
  const isAnyCounted = begun === null ? Boolean(prompt) || Boolean(completion) : completion !== null;
  if (!isAnyCounted) return record;
  const usage = prompt === null || completion === null ? null : usageOf(begun, prompt, completion);
  const columns =
    usage === null
      ? { prompt_tokens: prompt, completion_tokens: completion }
      : usageColumns({ ...record.request, routedModel }, usage, catalog);
  return { ...record, request: { ...record.request, ...columns, usage_estimated: true } };
}

function usageOf(begun: Usage | null, promptTokens: number, completionTokens: number): Usage {
  if (begun === null) return textUsage(promptTokens, completionTokens);
  const all = Math.max(begun.completionTokens, completionTokens);
  return { ...begun, completionTokens: all, totalTokens: begun.promptTokens + all };
}
