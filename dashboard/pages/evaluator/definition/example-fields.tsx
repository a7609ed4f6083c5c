/** Examples of verdicts, which a judge is sent with every call. */
import { Field } from '../../../parts/form/field.tsx';
import { type ExampleDraft, nextKey } from './example-draft.ts';
import { type FormProps, faultOf, SelectField, TextField } from './fields.tsx';

/** Of the API. */
const MOST_EXAMPLES = 20;
const TEXT_LINES = 3;

type OneProps = {
  draft: FormProps['draft'];
  example: ExampleDraft;
  number: number;
  onChange: (changes: Partial<ExampleDraft>) => void;
  onRemove: () => void;
};

const CHOOSE = ['', 'Choose one'] as const;

/** A stored 1 stays a 1, and a stored true stays true. */
const booleanOptions = (verdict: string) =>
  [CHOOSE, [verdict === '1' ? '1' : 'true', 'Yes'], [verdict === '0' ? '0' : 'false', 'No']] as const;

function Verdict({ draft: { scoringType, choices }, example: { verdict }, number, onChange }: OneProps) {
  const label = `Verdict of example ${number}`;
  const change = (text: string) => onChange({ verdict: text });
  if (scoringType === 'LLM-RANGE')
    return <TextField label={label} type="number" value={verdict} onChange={change} />;
  if (scoringType === 'LLM-BOOLEAN')
    return <SelectField label={label} value={verdict} options={booleanOptions(verdict)} onChange={change} />;
  const labels = choices.map(({ description }) => description);
  const known = [...new Set(verdict === '' || labels.includes(verdict) ? labels : [verdict, ...labels])];
  const options = [CHOOSE, ...known.filter((one) => one !== '').map((one) => [one, one] as const)];
  return <SelectField label={label} value={verdict} options={options} onChange={change} />;
}

function One(props: OneProps) {
  const { example, number, onChange, onRemove } = props;
  const text = (name: 'input' | 'output', label: string) => (
    <Field
      label={label}
      control={(attributes) => (
        <textarea
          {...attributes}
          rows={TEXT_LINES}
          value={example[name]}
          onInput={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
        />
      )}
    />
  );
  return (
    <div class="evaluator-example">
      {text('input', `Input of example ${number}`)}
      {text('output', `Output of example ${number}`)}
      <Verdict {...props} />
      <TextField
        label={`Reasoning of example ${number}`}
        value={example.reasoning ?? ''}
        hint="May be empty."
        onChange={(reasoning) => onChange({ reasoning: reasoning === '' ? null : reasoning })}
      />
      <button type="button" onClick={onRemove}>
        Remove example {number}
      </button>
    </div>
  );
}

/** Shows the examples, folded while there is none. */
export function ExampleFields({ draft, onChange, fault }: FormProps) {
  const { examples } = draft;
  const sentence = faultOf(fault, 'examples');
  const set = (next: ExampleDraft[]) => onChange({ examples: next });
  const add = () =>
    set([...examples, { key: nextKey(examples), input: '', output: '', verdict: '', reasoning: null }]);
  return (
    <details class="evaluator-examples" open={examples.length > 0 || sentence !== null}>
      <summary>Examples of verdicts{examples.length > 0 && ` (${examples.length})`}</summary>
      <p class="field-hint">
        Answers with the verdicts that people want. The judge is sent them with every call.
      </p>
      {sentence !== null && (
        <p class="bad" role="alert">
          {sentence}
        </p>
      )}
      {examples.map((example, index) => (
        <One
          key={example.key}
          draft={draft}
          example={example}
          number={index + 1}
          onChange={(changes) =>
            set(examples.map((one) => (one.key === example.key ? { ...one, ...changes } : one)))
          }
          onRemove={() => set(examples.filter(({ key }) => key !== example.key))}
        />
      ))}
      <button type="button" disabled={examples.length >= MOST_EXAMPLES} onClick={add}>
        Add an example
      </button>
    </details>
  );
}
