/** Labels with their scores: rows that come and go. */
import { useId } from 'preact/hooks';

/** A label as it is written; `key` names its row while rows come and go. */
export type LabelField = { key: number; label: string; score: string };

export type LabelFieldsProps = {
  legend: string;
  /** A row is one: `label`. */
  what: string;
  labels: readonly LabelField[];
  hint: string;
  fault: string | null;
  onChange: (labels: LabelField[]) => void;
};

/** @example <LabelFields legend="Labels" what="label" labels={labels} hint="…" fault={null} onChange={setLabels} /> */
export function LabelFields({ legend, what, labels, hint, fault, onChange }: LabelFieldsProps) {
  const hintId = useId();
  const change = (key: number, changes: Partial<LabelField>) =>
    onChange(labels.map((one) => (one.key === key ? { ...one, ...changes } : one)));
  const add = () => {
    const key = Math.max(-1, ...labels.map((one) => one.key)) + 1;
    onChange([...labels, { key, label: '', score: '' }]);
  };
  return (
    <fieldset class="evaluator-choices" aria-describedby={hintId}>
      <legend>{legend}</legend>
      {labels.map(({ key, label, score }, index) => (
        <div key={key} class="evaluator-choice">
          <input
            type="number"
            step="any"
            aria-label={`Score of ${what} ${index + 1}`}
            placeholder="Score"
            value={score}
            onInput={({ currentTarget }) => change(key, { score: currentTarget.value })}
          />
          <input
            type="text"
            aria-label={`Words of ${what} ${index + 1}`}
            placeholder="Label"
            value={label}
            onInput={({ currentTarget }) => change(key, { label: currentTarget.value })}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${what} ${index + 1}`}
            onClick={() => onChange(labels.filter((one) => one.key !== key))}
          >
            ✕
          </button>
        </div>
      ))}
      <div id={hintId} class="field-hint">
        {fault !== null && <p class="bad">{fault}</p>}
        {hint}
      </div>
      <button type="button" onClick={add}>
        Add a {what}
      </button>
    </fieldset>
  );
}
