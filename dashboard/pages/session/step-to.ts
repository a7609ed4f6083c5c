/** Steps from row to row. Pure. */

/** Returns the key `step` rows away; from none, the first or the last; at an end, the one there; null: there are no rows. */
export function stepTo(keys: readonly string[], from: string | null, step: number): string | null {
  const at = from === null ? -1 : keys.indexOf(from);
  const next = at === -1 ? (step > 0 ? 0 : keys.length - 1) : at + step;
  return keys[Math.max(0, Math.min(keys.length - 1, next))] ?? null;
}
