/** Counts of two verdicts against each other. */
import { count } from '../../../parts/formats/numbers.ts';

export type MatrixCell = { count: number; href: string; isAgreement: boolean };
export type MatrixProps = {
  caption: string;
  columns: readonly [string, string];
  rows: readonly (readonly [string, readonly MatrixCell[]])[];
};

/** Shows the counts as links; those on which both agree have a mark, too. */
export function Matrix({ caption, columns, rows }: MatrixProps) {
  return (
    <table class="evaluator-matrix">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          <td />
          {columns.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([title, cells]) => (
          <tr key={title}>
            <th scope="row">{title}</th>
            {cells.map(({ count: number, href, isAgreement }) => (
              <td key={href} class={isAgreement ? 'evaluator-agrees' : 'evaluator-differs'}>
                <a href={href}>{count(number)}</a>
                <span class="muted">{isAgreement ? '✓ agree' : '✗ differ'}</span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
