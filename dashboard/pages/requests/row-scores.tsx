/** The grades in a row. */
import type { RequestRow } from '#core/contracts/rows.ts';
import { decimal } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { ratingOf } from '../../state/ratings.ts';

/** Scores, feedback, and evaluations that have no outcome yet. */
export function RowScores({ row }: { row: RequestRow }) {
  const { scores, evaluations_pending: pending } = row;
  const rating = ratingOf(row);
  return (
    <>
      {rating !== null && (
        <span class="chip" title={rating ? 'Rated good' : 'Rated bad'}>
          {rating ? '▲ good' : '▼ bad'}
        </span>
      )}
      {Object.entries(scores ?? {}).map(([key, score]) => (
        <span key={key} class="chip" title={`${key}: ${score}`}>
          <Hostile text={key} /> {decimal(score)}
        </span>
      ))}
      {(pending ?? 0) > 0 && <span class="chip">{pending} pending</span>}
    </>
  );
}
