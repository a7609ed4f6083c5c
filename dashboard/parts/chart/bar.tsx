/** A share as the length of a bar, behind or beside a value in a table. The value itself stands there as text. */

/** @param share from 0 to 1; anything beyond is cut */
export function Bar({ share }: { share: number }) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 1_000) / 10;
  return (
    <span class="share-bar" aria-hidden="true">
      <span style={{ inlineSize: `${percent}%` }} />
    </span>
  );
}
