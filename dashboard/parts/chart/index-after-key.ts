/** Moving through the bars or buckets of a drawing by keys. Pure. */

/**
 * Returns the index that an arrow, Home or End leads to; null: another key.
 * @param at the index of the current one; null: none is, and an arrow leads to the first or the last one
 * @param last the index of the last one
 */
export function indexAfterKey(key: string, at: number | null, last: number): number | null {
  const within = (index: number) => Math.min(last, Math.max(0, index));
  switch (key) {
    case 'ArrowLeft':
      return within((at ?? last + 1) - 1);
    case 'ArrowRight':
      return within((at ?? -1) + 1);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}
