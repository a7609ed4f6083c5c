/** All values of a chart as a table. */
import { CopyButton } from '../copy/copy.tsx';
import { fullTime } from '../formats/times.ts';
import { Hostile } from '../text/hostile.tsx';
import { bucketTime } from './bucket-time.ts';
import type { Buckets } from './buckets.ts';
import { csvOf, rowsOf } from './rows.ts';
import type { ChartContent } from './series.ts';
import { UNITS } from './units.ts';

type ChartTableProps = {
  content: ChartContent;
  buckets: Buckets;
  /** The requests of a bucket; null: they cannot be listed. */
  hrefOf: (index: number) => string | null;
};

/** Shows a row for each bucket, in a box of the height that the drawing has. */
export function ChartTable({ content, buckets, hrefOf }: ChartTableProps) {
  const rows = rowsOf(content, buckets);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
    <section class="chart-table" aria-label={`${content.title}, table`} tabIndex={0}>
      <table class="table">
        <caption class="unseen">{content.title}</caption>
        <thead>
          <tr>
            <th scope="col">
              From <CopyButton text={csvOf(rows)} what={`CSV of ${content.title}`} label="Copy CSV" />
            </th>
            {rows.titles.map((title, index) => (
              <th key={index} scope="col" class="number">
                <Hostile text={title} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.rows.map(({ begin, values }, index) => {
            const href = hrefOf(index);
            const time = bucketTime(begin, buckets);
            return (
              <tr key={begin}>
                <th scope="row" title={fullTime(begin)}>
                  {href === null ? time : <a href={href}>{time}</a>}
                </th>
                {values.map((value, column) => (
                  <td key={column} class="number">
                    {UNITS[content.unit].full(value)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
