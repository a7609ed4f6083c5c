/** One criterion to grade by: its values as buttons with their keys, or a field for a number; and a comment. */
import { useId, useState } from 'preact/hooks';
import type { CriterionJson } from '#core/contracts/grade.ts';
import { decimal } from '../formats/numbers.ts';
import { Hostile } from '../text/hostile.tsx';
import { choicesOf, type GradeDraft, ruleOf } from './values.ts';

export type GradeFieldProps = {
  criterion: CriterionJson;
  draft: GradeDraft;
  onChange: (draft: GradeDraft) => void;
  /** True: the digits are keys of this criterion; without keys it is never. */
  hasKeys?: boolean;
  onFocus?: () => void;
};

const LONGEST_COMMENT = 10_000;

function Choices({ criterion, draft, onChange, hasKeys }: GradeFieldProps) {
  const choices = choicesOf(criterion.kind) ?? [];
  return (
    <div class="grade-choices">
      {choices.map(({ value, label, key }) => (
        <button
          key={label}
          type="button"
          class="grade-value"
          aria-pressed={draft.value === value}
          aria-keyshortcuts={hasKeys && key !== null ? key : undefined}
          onClick={() => onChange({ ...draft, value })}
        >
          {hasKeys && key !== null && (
            <span aria-hidden="true">
              <kbd>{key}</kbd>
            </span>
          )}
          <span class="break">
            <Hostile text={label} />
          </span>
        </button>
      ))}
    </div>
  );
}

/** A number as it is written, which is not always one yet. */
function NumberField({ criterion, draft, onChange }: GradeFieldProps) {
  const hintId = useId();
  const [text, setText] = useState(draft.value === null ? '' : String(draft.value));
  const { kind } = criterion;
  if (kind.type !== 'scale') return null;
  // A value that another way has set: a digit that was pressed.
  const shown = draft.value !== null && Number(text) !== draft.value ? String(draft.value) : text;
  const rule = ruleOf(criterion.kind, draft);
  return (
    <>
      <input
        type="number"
        class="grade-value grade-number"
        step="any"
        aria-label={`${criterion.name}: number`}
        aria-describedby={hintId}
        aria-invalid={rule === null ? undefined : true}
        value={shown}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          onChange({ ...draft, value: value.trim() === '' ? null : Number(value) });
        }}
      />
      <p id={hintId} class="field-hint">
        {rule !== null && <span class="bad">{rule}. </span>}
        {decimal(kind.min)} to {decimal(kind.max)}
        {kind.step !== null && `, in steps of ${decimal(kind.step)}`}
      </p>
    </>
  );
}

/** Shows the criterion. */
export function GradeField(props: GradeFieldProps) {
  const { criterion, draft, onChange, hasKeys = false, onFocus } = props;
  const hintId = useId();
  const { name, description, kind } = criterion;
  return (
    <fieldset
      class={hasKeys ? 'grade-field grade-field-current' : 'grade-field'}
      aria-describedby={description === '' ? undefined : hintId}
      onFocusIn={onFocus}
    >
      <legend>
        <Hostile text={name} />
      </legend>
      {description !== '' && (
        <p id={hintId} class="field-hint break">
          <Hostile text={description} />
        </p>
      )}
      {choicesOf(kind) === null ? <NumberField {...props} /> : <Choices {...props} hasKeys={hasKeys} />}
      <textarea
        class="grade-comment"
        rows={1}
        maxLength={LONGEST_COMMENT}
        aria-label={`Comment on ${name}`}
        placeholder="Comment"
        value={draft.comment}
        onInput={({ currentTarget }) => onChange({ ...draft, comment: currentTarget.value })}
      />
    </fieldset>
  );
}
