/** People's grades of a request: the criterion, the person, the time, and the values before. */
import type { CriterionJson, GradeWithHistoryJson } from '#core/contracts/grade.ts';
import { useKeyNames } from '../../client/key-names.ts';
import { isOwn } from '../../state/reviewer.ts';
import { Moment } from '../formats/moment.tsx';
import { Hostile } from '../text/hostile.tsx';
import { valueText } from './values.ts';

function History({ history }: Pick<GradeWithHistoryJson, 'history'>) {
  if (history.length === 0) return null;
  return (
    <details>
      <summary>Said before</summary>
      <ul>
        {history.map(({ value, graded_at: at }) => (
          <li key={at}>
            <Hostile text={valueText(value)} /> <Moment at={at} />
          </li>
        ))}
      </ul>
    </details>
  );
}

type OneProps = { grade: GradeWithHistoryJson; keyName: string | null };

function One({ grade, keyName }: OneProps) {
  const { author, key_id, value, comment, graded_at, history } = grade;
  return (
    <li>
      <strong>
        <Hostile text={valueText(value)} />
      </strong>{' '}
      <span class="break">
        <Hostile text={author ?? keyName ?? `Key ${key_id}`} />
      </span>{' '}
      {isOwn(grade) && <span class="chip">You</span>} <Moment at={graded_at} />
      {comment !== null && (
        <p class="request-reasoning">
          <Hostile text={comment} />
        </p>
      )}
      <History history={history} />
    </li>
  );
}

export type GradeListProps = {
  grades: readonly GradeWithHistoryJson[];
  /** Those that may have grades; a grade of another one is shown without its name. */
  criteria: readonly CriterionJson[];
};

/** Lists grades below their criteria, in the order of these. */
export function GradeList({ grades, criteria }: GradeListProps) {
  const names = useKeyNames(grades.map(({ author, key_id }) => (author === null ? key_id : null)));
  const graded = new Set(grades.map(({ criterion_id }) => criterion_id));
  const known = criteria.filter(({ id }) => graded.has(id));
  const unknown = [...graded].filter((id) => !known.some((one) => one.id === id));
  return (
    <ul class="grade-list">
      {[...known, ...unknown.map((id) => ({ id, name: `Criterion ${id}`, archived_at: null }))].map(
        ({ id, name, archived_at }) => (
          <li key={id} class="card">
            <h3>
              <a href={`/review/criteria/${encodeURIComponent(id)}`}>
                <Hostile text={name} />
              </a>{' '}
              {archived_at !== null && <span class="chip">Archived</span>}
            </h3>
            <ul>
              {grades
                .filter(({ criterion_id }) => criterion_id === id)
                .map((grade) => (
                  <One key={grade.id} grade={grade} keyName={names.get(grade.key_id) ?? null} />
                ))}
            </ul>
          </li>
        ),
      )}
    </ul>
  );
}
