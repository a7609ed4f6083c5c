/** What stands in a table for rows that are not on the screen. */

/** A row as high as all of them. */
export function Gap({ height, span }: { height: number; span: number }) {
  if (height <= 0) return null;
  return (
    <tr class="grid-gap">
      <td colSpan={span} style={{ height: `${height}px` }} />
    </tr>
  );
}
