/** What the list of prompts shows. */
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import type { PromptJson, PromptQueryBody, PromptVersionJson } from '#core/contracts/prompt.ts';
import { call } from '../../client/call.ts';
import { loadVersions, versionName } from '../../parts/prompts/load.ts';

/** Prompts of a page: each needs a call for its versions. */
export const PAGE_SIZE = 20;
const MOST_GROUPS = 1_000;

export type ListedPrompt = PromptJson & {
  newest: PromptVersionJson | null;
  /** Names of environments, with the version that each names. */
  environments: readonly { name: string; version: string }[];
};

async function withVersions(prompt: PromptJson, signal: AbortSignal): Promise<ListedPrompt> {
  const versions = await loadVersions(prompt.id, signal);
  const environments = versions.flatMap((version) =>
    version.environments.map((name) => ({ name, version: versionName(version) })),
  );
  return { ...prompt, newest: versions[0] ?? null, environments };
}

/** Loads a page of prompts. */
export async function loadPrompts(query: PromptQueryBody, signal: AbortSignal): Promise<ListedPrompt[]> {
  const prompts = await call<PromptJson[]>('POST', '/v1/prompt-2025/query', query, signal);
  return Promise.all(prompts.map((prompt) => withVersions(prompt, signal)));
}

/** Loads the requests and the cost of each prompt in a range. */
export async function loadUses(
  range: { from: number; to: number },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, { requests: number; cost: number | null }>> {
  const query: MetricsQueryBody = {
    measures: [
      { metric: 'requests', aggregate: 'count' },
      { metric: 'cost', aggregate: 'sum' },
    ],
    groupBy: ['prompt_id'],
    range,
    bucket: 'none',
    limit: MOST_GROUPS,
  };
  const { series } = await call<MetricsAnswer>('POST', '/v1/metrics/query', query, signal);
  return new Map(
    series.map(({ group, total: [requests, cost] }) => [
      String(group.prompt_id),
      { requests: requests ?? 0, cost: cost ?? null },
    ]),
  );
}
