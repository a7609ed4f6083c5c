/** People's grades of a request, and one's own grade in place. */
import { useState } from 'preact/hooks';
import type { CriterionJson, GradeWithHistoryJson } from '#core/contracts/grade.ts';
import { useResource } from '../../client/resource.ts';
import { may } from '../../state/me.ts';
import { isOwn } from '../../state/reviewer.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { Form } from '../form/form.tsx';
import { Select } from '../form/select.tsx';
import { GradeField } from '../grades/grade-field.tsx';
import { GradeList } from '../grades/grade-list.tsx';
import { loadCriteria, putGrade, takeGradeBack, useCriteria, useGrades } from '../grades/load.ts';
import { Reviewer } from '../grades/reviewer.tsx';
import { type GradeDraft, ruleOf } from '../grades/values.ts';
import { attempt, tell } from '../toast/toast.tsx';

type OwnProps = {
  requestId: string;
  criterion: CriterionJson;
  /** The person's grade as it is stored; null: there is none. */
  stored: GradeWithHistoryJson | null;
  onChanged: () => void;
};

function Own({ requestId, criterion, stored, onChanged }: OwnProps) {
  const [draft, setDraft] = useState<GradeDraft>({
    value: stored?.value ?? null,
    comment: stored?.comment ?? '',
  });
  const { value, comment } = draft;
  const save = async () => {
    if (value === null) return;
    await putGrade(requestId, { criterionId: criterion.id, value, comment });
    tell('Graded');
    onChanged();
  };
  const takeBack = () =>
    attempt(async () => {
      await takeGradeBack(requestId, criterion.id);
      setDraft({ value: null, comment: '' });
      onChanged();
    }, 'Taken back');
  return (
    <Form
      verb="Grade"
      onSubmit={save}
      isReady={value !== null && ruleOf(criterion.kind, draft) === null}
      more={
        stored !== null && (
          <button type="button" onClick={takeBack}>
            Take it back
          </button>
        )
      }
    >
      <GradeField criterion={criterion} draft={draft} onChange={setDraft} />
    </Form>
  );
}

type GiveProps = {
  requestId: string;
  criteria: readonly CriterionJson[];
  grades: readonly GradeWithHistoryJson[];
  onChanged: () => void;
};

/** A grade by one of the criteria. */
function Give({ requestId, criteria, grades, onChanged }: GiveProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const criterion = criteria.find(({ id }) => id === chosen) ?? criteria[0];
  if (criterion === undefined)
    return (
      <p class="muted">
        There is no criterion to grade by. <a href="/review?tab=criteria">Criteria</a>
      </p>
    );
  const stored = grades.find((grade) => grade.criterion_id === criterion.id && isOwn(grade)) ?? null;
  return (
    <section class="card request-grade" aria-label="Your grade">
      <div class="request-title">
        <h3>Your grade</h3>
        <Reviewer />
      </div>
      {criteria.length > 1 && (
        <Select
          label="Criterion"
          options={criteria.map(({ id, name }) => ({ name: id, label: name }))}
          value={criterion.id}
          onChange={setChosen}
        />
      )}
      <Own
        key={`${requestId} ${criterion.id} ${stored?.id ?? ''}`}
        requestId={requestId}
        criterion={criterion}
        stored={stored}
        onChanged={onChanged}
      />
    </section>
  );
}

/** Shows the grades, with a form for a key that may write. */
export function Grades({ id }: { id: string }) {
  const grades = useGrades(id);
  const criteria = useCriteria();
  const hasUnknown = grades.data?.some(
    ({ criterion_id }) => criteria.data?.some((one) => one.id === criterion_id) === false,
  );
  const archived = useResource(hasUnknown === true ? 'archived criteria' : null, (signal) =>
    loadCriteria(true, signal),
  );
  const failed = [grades, criteria, archived].find(({ failure }) => failure !== null);
  if (grades.data === null || criteria.data === null)
    return <FailureNotice failure={failed?.failure ?? null} {...(failed && { retry: failed.reload })} />;
  return (
    <>
      <FailureNotice failure={failed?.failure ?? null} {...(failed && { retry: failed.reload })} />
      {grades.data.length === 0 ? (
        <p class="empty">Nobody has graded this answer.</p>
      ) : (
        <GradeList grades={grades.data} criteria={[...criteria.data, ...(archived.data ?? [])]} />
      )}
      {may('write') && (
        <Give requestId={id} criteria={criteria.data} grades={grades.data} onChanged={grades.reload} />
      )}
    </>
  );
}
