/** The path of a sparkline. Pure. */

/** Room for the width of the line. */
const MARGIN = 1.5;

/**
 * Returns the path of a line through values, from 0 (or the least, if that is negative) at the bottom to the greatest at the top.
 * Missing values leave gaps. Empty for fewer than two values.
 */
export function sparklinePath(values: readonly (number | null)[], width: number, height: number): string {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return '';
  const least = Math.min(0, ...known);
  const span = Math.max(...known) - least || 1;
  const step = (width - 2 * MARGIN) / (values.length - 1);
  let isDown = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isDown = false;
        return '';
      }
      const command = isDown ? 'L' : 'M';
      isDown = true;
      const y = height - MARGIN - ((value - least) / span) * (height - 2 * MARGIN);
      return `${command}${(MARGIN + index * step).toFixed(1)} ${y.toFixed(1)}`;
    })
    .join('');
}
