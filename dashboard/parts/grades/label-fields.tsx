/** Labels with their scores: rows that come and go. */
import { useId } from 'preact/hooks';
import type { LabelField } from './criterion-fields.ts';

export type LabelFieldsProps = {
  labels: LabelField[];
  fault: string | null;
  onChange: (labels: LabelField[]) => void;
};

/** Shows the rows. */
export function LabelFields({ labels, fault, onChange }: LabelFieldsProps) {
  const hintId = useId();
  const change = (key: number, changes: Partial<LabelField>) =>
    onChange(labels.map((one) => (one.key === key ? { ...one, ...changes } : one)));
  const add = () => {
    const key = Math.max(-1, ...labels.map((one) => one.key)) + 1;
    onChange([...labels, { key, label: '', score: '' }]);
  };
  return (
    <fieldset class="evaluator-choices" aria-describedby={hintId}>
      <legend>Labels</legend>
      {labels.map(({ key, label, score }, index) => (
        <div key={key} class="evaluator-choice">
          <input
            type="number"
            step="any"
            aria-label={`Score of label ${index + 1}`}
            placeholder="Score"
            value={score}
            onInput={({ currentTarget }) => change(key, { score: currentTarget.value })}
          />
          <input
            type="text"
            aria-label={`Label ${index + 1}`}
            placeholder="What people may say"
            value={label}
            onInput={({ currentTarget }) => change(key, { label: currentTarget.value })}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove label ${index + 1}`}
            onClick={() => onChange(labels.filter((one) => one.key !== key))}
          >
            ✕
          </button>
        </div>
      ))}
      <div id={hintId} class="field-hint">
        {fault !== null && <p class="bad">{fault}</p>}
        Labels with scores can be compared with an evaluator.
      </div>
      <button type="button" onClick={add}>
        Add a label
      </button>
    </fieldset>
  );
}
