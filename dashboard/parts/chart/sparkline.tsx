/** A line the size of a word, for tables and tiles: the shape of a series, without axes. */
import { sparklinePath } from './sparkline-path.ts';

const WIDTH = 96;
const HEIGHT = 24;

/** Shows nothing for fewer than two values. */
export function Sparkline({ values, title }: { values: readonly (number | null)[]; title: string }) {
  const path = sparklinePath(values, WIDTH, HEIGHT);
  if (path === '') return null;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={title}
    >
      <path d={path} />
    </svg>
  );
}
