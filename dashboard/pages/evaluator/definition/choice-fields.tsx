/** The choices of an LLM-CHOICE: words that the judge reads, each with the score that is kept. */
import { useId } from 'preact/hooks';
import type { ChoiceDraft } from './draft.ts';
import { type FormProps, faultOf } from './fields.tsx';

/** Shows the choices. */
export function ChoiceFields({ draft, onChange, fault }: FormProps) {
  const faultId = useId();
  const { choices } = draft;
  const sentence = faultOf(fault, 'choices');
  const change = (key: number, changes: Partial<ChoiceDraft>) =>
    onChange({ choices: choices.map((one) => (one.key === key ? { ...one, ...changes } : one)) });
  const add = () => {
    const key = Math.max(-1, ...choices.map((one) => one.key)) + 1;
    onChange({ choices: [...choices, { key, score: String(choices.length), description: '' }] });
  };
  return (
    <fieldset class="evaluator-choices" aria-describedby={sentence === null ? undefined : faultId}>
      <legend>Choices</legend>
      {choices.map(({ key, score, description }, index) => (
        <div key={key} class="evaluator-choice">
          <input
            type="number"
            step="any"
            aria-label={`Score of choice ${index + 1}`}
            value={score}
            onInput={(event) => change(key, { score: event.currentTarget.value })}
          />
          <input
            type="text"
            aria-label={`Words of choice ${index + 1}`}
            placeholder="What the judge may answer"
            value={description}
            onInput={(event) => change(key, { description: event.currentTarget.value })}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove choice ${index + 1}`}
            onClick={() => onChange({ choices: choices.filter((one) => one.key !== key) })}
          >
            ✕
          </button>
        </div>
      ))}
      {sentence !== null && (
        <p id={faultId} class="bad">
          {sentence}
        </p>
      )}
      <button type="button" onClick={add}>
        Add a choice
      </button>
    </fieldset>
  );
}
