/** The colours of a query, behind the field that has its text. */
import type { Explained } from '#core/filter/query-text/mod.ts';

/** Lies exactly where the field's own, unseen text lies: what changes one's size or wrapping must change the other's. */
export function Overlay({ explained, isFaultShown }: { explained: Explained; isFaultShown: boolean }) {
  const { parts, error } = explained;
  return (
    <div class="query-bar-overlay" aria-hidden="true">
      {parts.map(({ kind, text, offset, isFault }) => (
        <span
          key={offset}
          class={isFault && isFaultShown ? `query-${kind} query-bar-fault` : `query-${kind}`}
        >
          {text}
        </span>
      ))}
      {isFaultShown && error?.length === 0 && <span class="query-bar-fault"> </span>}
      {/* A line break at the end has a line of its own in the field. */}
      {'\u200b'}
    </div>
  );
}
