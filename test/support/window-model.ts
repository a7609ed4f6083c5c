/** Functions of a rate-limit window that only tests need: admitting calls one by one, as the SQL does, and reading its sub-buckets. */
import { charge, type Window } from '#core/rate-limit/mod.ts';
import { used } from '#core/rate-limit/window.ts';

/**
 * Admits and counts `amount` if any quota is left. A call counts 1, so the quota is never exceeded; a cost is only an
 * estimate, so the last call may exceed the quota by its own cost.
 */
export function admit(window: Window, nowMs: number, amount: number, quota: number): boolean {
  if (used(window, nowMs) >= quota) return false;
  charge(window, nowMs, amount);
  return true;
}

/** Returns the non-empty sub-buckets, oldest first, each with the last millisecond that belongs to it. */
export function subBuckets(window: Window): { lastMs: number; amount: number }[] {
  const { widthMs, depth } = window.shape;
  const found: { lastMs: number; amount: number }[] = [];
  for (let index = Math.max(0, window.newest - depth + 1); index <= window.newest; index += 1) {
    const amount = window.counts[index % depth] ?? 0;
    if (amount > 0) found.push({ lastMs: (index + 1) * widthMs - 1, amount });
  }
  return found;
}
