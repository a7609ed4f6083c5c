/** The form in which a person grades one item: a field for each criterion, moved through and set by keys. */
import { useRef, useState } from 'preact/hooks';
import type { CriterionJson } from '#core/contracts/grade.ts';
import { call } from '../../client/call.ts';
import { remember } from '../../client/recent.ts';
import { GradeField } from '../../parts/grades/grade-field.tsx';
import { gradesKey, loadGrades, putGrade } from '../../parts/grades/load.ts';
import { choicesOf } from '../../parts/grades/values.ts';
import { tell } from '../../parts/toast/toast.tsx';
import { useKeys } from '../../state/keys.ts';
import { authorOf } from '../../state/reviewer.ts';
import { changesOf, fieldOf, firstMissing, type Stored } from './draft.ts';
import { endDraft, useDraft } from './use-draft.ts';
import type { Items } from './use-items.ts';

export type GradingProps = {
  queueId: string;
  requestId: string;
  /** Those of the queue that are not archived. */
  criteria: readonly CriterionJson[];
  /** The person's own grades of the request. */
  stored: Stored;
  items: Items;
};

const DIGITS = Array.from({ length: 10 }, (_, digit) => String((digit + 1) % 10));

/** Sends the grades that were written, and has them shown as stored. */
async function save({ requestId, stored }: GradingProps, draft: Parameters<typeof changesOf>[0]) {
  for (const change of changesOf(draft, stored)) await putGrade(requestId, change);
  remember(gradesKey(requestId), await loadGrades(requestId, new AbortController().signal));
  endDraft(requestId, draft);
}

function useGrading(props: GradingProps) {
  const { queueId, requestId, criteria, stored, items } = props;
  const { draft, latest, change } = useDraft(requestId);
  const [current, setCurrent] = useState(() => firstMissing(criteria, draft, stored) ?? 0);
  const box = useRef<HTMLElement>(null);
  const fieldsetAt = (at: number) => box.current?.querySelectorAll('fieldset')[at];
  const focus = (at: number) => {
    setCurrent(at);
    const fields = fieldsetAt(at);
    const target =
      fields?.querySelector<HTMLElement>('[aria-pressed=true]') ?? fields?.querySelector('.grade-value');
    if (target instanceof HTMLElement) target.focus();
  };
  const move = (step: number) => focus(Math.min(criteria.length - 1, Math.max(0, current + step)));
  const choose = (digit: string) => {
    const criterion = criteria[current]!;
    const { comment } = fieldOf(criterion.id, latest.current, stored);
    const choices = choicesOf(criterion.kind);
    const value = choices === null ? Number(digit) : choices.find(({ key }) => key === digit)?.value;
    if (value === undefined) return;
    change(criterion.id, { value, comment });
    // The rest of the number is written there.
    if (choices === null) focus(current);
  };
  const comment = () => fieldsetAt(current)?.querySelector('textarea')?.focus();
  const finish = () => {
    const missing = firstMissing(criteria, latest.current, stored);
    if (missing === null) return items.leave(requestId, () => save(props, latest.current));
    tell(`A grade is missing: ${criteria[missing]!.name}`, { isBad: true });
    focus(missing);
  };
  const skip = () => {
    const body = { requestId, ...authorOf() };
    const path = `/v1/review-queue/${encodeURIComponent(queueId)}/skip`;
    items.leave(requestId, () => call('POST', path, body));
  };
  return { box, draft, change, current, setCurrent, move, choose, comment, finish, skip };
}

function useGradingKeys(grading: ReturnType<typeof useGrading>, items: Items): void {
  const { move, choose, comment, finish, skip, box } = grading;
  const digits = DIGITS.map((digit) => [digit, { what: 'Choose a value', run: () => choose(digit) }]);
  useKeys('Review', {
    ...Object.fromEntries(digits),
    ArrowUp: { what: 'Criterion before', run: () => move(-1), mayRepeat: true },
    ArrowDown: { what: 'Next criterion', run: () => move(1), mayRepeat: true },
    c: { what: 'Comment', run: comment },
    Escape: {
      what: 'Leave a comment or a number',
      run: () => {
        if (box.current?.contains(document.activeElement)) box.current.focus();
      },
      whileTyping: true,
    },
    'Mod+Enter': { what: 'Done, and the next item', run: finish, whileTyping: true },
    s: { what: 'Skip the item', run: skip },
    ArrowLeft: { what: 'Item before', run: items.previous },
    ArrowRight: { what: 'Next item', run: items.next },
  });
}

function Buttons({ grading, items }: { grading: ReturnType<typeof useGrading>; items: Items }) {
  return (
    <>
      <div class="form-actions">
        <button type="button" class="primary" onClick={grading.finish}>
          Done <kbd>Ctrl Enter</kbd>
        </button>
        <button type="button" onClick={grading.skip}>
          Skip <kbd>s</kbd>
        </button>
      </div>
      <div class="form-actions">
        <button type="button" disabled={!items.hasPrevious} onClick={items.previous}>
          <span aria-hidden="true">←</span> Previous
        </button>
        <button type="button" onClick={items.next}>
          Next <span aria-hidden="true">→</span>
        </button>
      </div>
    </>
  );
}

/** Shows the fields. */
export function Grading(props: GradingProps) {
  const { criteria, stored, items } = props;
  const grading = useGrading(props);
  useGradingKeys(grading, items);
  const { box, draft, change, current, setCurrent } = grading;
  return (
    <section ref={box} class="review-grading" aria-label="Your grades" tabIndex={-1}>
      {criteria.map((criterion, index) => (
        <GradeField
          key={criterion.id}
          criterion={criterion}
          draft={fieldOf(criterion.id, draft, stored)}
          onChange={(field) => change(criterion.id, field)}
          hasKeys={index === current}
          onFocus={() => setCurrent(index)}
        />
      ))}
      <Buttons grading={grading} items={items} />
    </section>
  );
}
