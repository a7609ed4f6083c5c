/** The shape of a distribution at a glance: a bar a bucket. The numbers stand beside it, or in a table. */

const WIDTH = 64;
const HEIGHT = 20;
/** Of a bucket that is not empty. */
const LEAST_HEIGHT = 1.5;

/** Draws the counts of buckets; hidden from screen readers, which get the numbers. */
export function Distribution({ buckets }: { buckets: readonly { count: number }[] }) {
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  const step = WIDTH / Math.max(1, buckets.length);
  return (
    <svg
      class="evaluators-distribution"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      aria-hidden="true"
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      {buckets.map(({ count }, index) => {
        const height = count === 0 ? 0 : Math.max(LEAST_HEIGHT, (count / most) * (HEIGHT - 1));
        return (
          <rect
            key={index}
            x={index * step + 0.5}
            y={HEIGHT - height}
            width={Math.max(1, step - 1)}
            height={height}
          />
        );
      })}
    </svg>
  );
}
