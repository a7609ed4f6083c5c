/** One item: the conversation of the request, the person's own grades, and afterwards what others say. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { CriterionJson, GradeWithHistoryJson } from '#core/contracts/grade.ts';
import { Conversation } from '../../parts/conversation/conversation.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { GradeList } from '../../parts/grades/grade-list.tsx';
import { useGrades } from '../../parts/grades/load.ts';
import { useBodies } from '../../parts/record/use-bodies.ts';
import { Evaluations } from '../../parts/request/evaluations.tsx';
import { isOwn } from '../../state/reviewer.ts';
import { isGraded } from './draft.ts';
import { Grading } from './grading.tsx';
import type { Items } from './use-items.ts';

export type ItemProps = {
  queueId: string;
  requestId: string;
  criteria: readonly CriterionJson[];
  items: Items;
};

type OthersProps = {
  requestId: string;
  criteria: readonly CriterionJson[];
  grades: readonly GradeWithHistoryJson[];
};

/** Grades and scores that would lead a person's own grade: they are shown once that is given. */
function Others({ requestId, criteria, grades }: OthersProps) {
  const others = grades.filter((grade) => !isOwn(grade));
  return (
    <section class="review-others" aria-label="What others say">
      <h2>What others say</h2>
      {others.length === 0 ? (
        <p class="muted">Nobody else has graded it.</p>
      ) : (
        <GradeList grades={others} criteria={criteria} />
      )}
      <Evaluations id={requestId} />
      <a href={`/requests/${encodeURIComponent(requestId)}`}>Open the request</a>
    </section>
  );
}

/** Shows the item; another one begins at its top. */
export function Item({ queueId, requestId, criteria, items }: ItemProps) {
  const source = useBodies(requestId);
  const { data, failure, reload } = useGrades(requestId);
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    scrollTo(0, 0);
    title.current?.focus({ preventScroll: true });
  }, []);
  const stored = data?.filter(isOwn) ?? [];
  return (
    <div class="review-item">
      <section class="review-subject" aria-label="The request">
        <h2 ref={title} tabIndex={-1} class="review-title">
          Request <code class="break">{requestId}</code>
        </h2>
        <Conversation source={source} />
      </section>
      <div class="review-side">
        <FailureNotice failure={failure} retry={reload} />
        {data === null && failure === null && <p class="muted">Loading…</p>}
        {data !== null && (
          <>
            <Grading
              queueId={queueId}
              requestId={requestId}
              criteria={criteria}
              stored={stored}
              items={items}
            />
            {isGraded(criteria, stored) && <Others requestId={requestId} criteria={criteria} grades={data} />}
          </>
        )}
      </div>
    </div>
  );
}
