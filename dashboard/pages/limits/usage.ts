/** The counters of rate limits that are in use. */
import type { UsageJson } from '#core/contracts/limit-usage.ts';
import { call } from '../../client/call.ts';
import type { KeyNames } from '../../client/key-names.ts';
import { useResource } from '../../client/resource.ts';

const EVERY_MS = 5_000;
const KEY = 'limits ';

/**
 * Loads those that have a text, again every five seconds.
 * @param text in the key, the segment or the value; '': all, so that what is shown is not `isOfText`
 */
export function useUsage(text: string) {
  const { dataKey, ...usage } = useResource(
    KEY + text,
    (signal) =>
      // Without a text there is no parameter: during an upgrade the answer may come from an API that does not know it.
      call<UsageJson[]>(
        'GET',
        `/v1/rate-limit/usage${text && `?search=${encodeURIComponent(text)}`}`,
        undefined,
        signal,
      ),
    { everyMs: EVERY_MS },
  );
  return { ...usage, isOfText: dataKey !== KEY };
}

/** Returns the name of a counter's key, or its id. */
export function nameOf(names: KeyNames, id: string | null): string {
  return id === null ? 'All keys together' : (names.get(id) ?? id);
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
