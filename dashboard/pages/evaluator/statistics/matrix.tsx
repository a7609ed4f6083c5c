/** Counts of two verdicts against each other. */
import { count } from '../../../parts/formats/numbers.ts';

/** `href` null: no query finds the requests. */
export type MatrixCell = { count: number; href: string | null; isAgreement: boolean };
export type MatrixProps = {
  caption: string;
  columns: readonly [string, string];
  rows: readonly (readonly [string, readonly MatrixCell[]])[];
};

/** Shows the counts, as links where there is one; those on which both agree have a mark, too. */
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
            {cells.map(({ count: number, href, isAgreement }, index) => (
              <td key={index} class={isAgreement ? 'evaluator-agrees' : 'evaluator-differs'}>
                {href === null ? count(number) : <a href={href}>{count(number)}</a>}
                <span class="muted">{isAgreement ? '✓ agree' : '✗ differ'}</span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
