/** The counters of rate limits that are in use. */
import type { UsageJson } from '#core/contracts/limit-usage.ts';
import { call } from '../../client/call.ts';
import type { KeyNames } from '../../client/key-names.ts';
import { useResource } from '../../client/resource.ts';

const EVERY_MS = 5_000;

/** Loads them again every five seconds. */
export function useUsage() {
  return useResource(
    'limits',
    (signal) => call<UsageJson[]>('GET', '/v1/rate-limit/usage', undefined, signal),
    {
      everyMs: EVERY_MS,
    },
  );
}

/** Returns the name of a counter's key, or its id. */
export function nameOf(names: KeyNames, id: string | null): string {
  return id === null ? 'All keys together' : (names.get(id) ?? id);
}

/** Returns those whose key, segment or value has the text, ignoring case. */
export function findUsage(usage: readonly UsageJson[], names: KeyNames, text: string): readonly UsageJson[] {
  const wanted = text.trim().toLowerCase();
  return usage.filter(({ api_key_id, segment, value }) =>
    [nameOf(names, api_key_id), segment ?? '', value ?? ''].some((one) => one.toLowerCase().includes(wanted)),
  );
}

/** Names a counter: no two have the same. */
export function usageKey(one: UsageJson): string {
  return JSON.stringify([
    one.unit,
    one.api_key_id,
    one.segment,
    one.value,
    one.is_key_policy,
    one.window_seconds,
  ]);
}
