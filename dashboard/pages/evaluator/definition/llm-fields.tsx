/** The fields of a judge: its model, its prompt, and what it may answer. */
import { useRef } from 'preact/hooks';
import { isJudgeType } from '#core/evaluations/mod.ts';
import { call } from '../../../client/call.ts';
import { useResource } from '../../../client/resource.ts';
import { Field } from '../../../parts/form/field.tsx';
import { Hostile } from '../../../parts/text/hostile.tsx';
import { ChoiceFields } from './choice-fields.tsx';
import { CriteriaFields } from './criteria-fields.tsx';
import { ExampleFields } from './example-fields.tsx';
import { unknownVariable, variablesOf } from './faults.ts';
import { type FormProps, faultOf, SelectField, TextField } from './fields.tsx';
import { type JudgedType, promptAfter } from './judge-draft.ts';
import { JuryFields } from './jury-fields.tsx';

const TYPES: readonly (readonly [JudgedType, string])[] = [
  ['LLM-BOOLEAN', 'Yes or no (1 or 0)'],
  ['LLM-RANGE', 'A number in a range'],
  ['LLM-CHOICE', 'One of some choices'],
  ['LLM-RUBRIC', 'The scores of several judges in one call'],
  ['LLM-PAIRWISE', 'The better of two answers of experiments'],
];
/** What every prompt can name. */
const VARIABLES = {
  request: ['input', 'output', 'response.choices.0.finish_reason'],
  session: ['conversation', 'output', 'session.name'],
};
type Models = { models: { id: string; title: string }[]; groups: { id: string }[] };

function ModelField({ draft, onChange, fault }: FormProps) {
  const { data } = useResource('models', (signal) => call<Models>('GET', '/v1/model', undefined, signal));
  const groups = (data?.groups ?? []).map(({ id }) => ({ id, title: 'Group' }));
  return (
    <>
      <TextField
        label="Judge model"
        isMono
        list="judge-models"
        value={draft.model}
        placeholder="gpt-4o-mini"
        hint="A model, provider/model, a list separated by commas, or a group: whatever the gateway can call."
        fault={faultOf(fault, 'model')}
        onChange={(model) => onChange({ model })}
      />
      <datalist id="judge-models">
        {[...groups, ...(data?.models ?? [])].map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </datalist>
    </>
  );
}

type PromptFieldProps = FormProps & {
  /** Variables of the picked record. */
  offered: readonly string[];
};

/** The prompt, with buttons that write a variable where the cursor is. */
function PromptField({ draft, onChange, fault, offered }: PromptFieldProps) {
  const box = useRef<HTMLDivElement>(null);
  const sentence = faultOf(fault, 'prompt');
  const unknown = unknownVariable(sentence);
  const used = variablesOf(draft.prompt);
  const isOfPairs = draft.scoringType === 'LLM-PAIRWISE';
  const insert = (name: string) => {
    const area = box.current?.querySelector('textarea');
    if (area == null) return;
    area.setRangeText(`{{${name}}}`, area.selectionStart, area.selectionEnd, 'end');
    area.focus();
    onChange({ prompt: area.value });
  };
  return (
    <div ref={box}>
      <Field
        label="Prompt"
        fault={sentence}
        hint={
          isOfPairs
            ? 'It has no variables: the input and both answers are appended.'
            : `Values are inserted as JSON. A prompt without variables gets the ${draft.scope === 'session' ? 'conversation' : 'input and the output'} appended.`
        }
        control={(attributes) => (
          <textarea
            {...attributes}
            class="mono"
            rows={8}
            value={draft.prompt}
            onInput={(event) => onChange({ prompt: event.currentTarget.value })}
          />
        )}
      />
      {!isOfPairs && (
        <p class="evaluator-variables">
          Insert:{' '}
          {[...new Set([...VARIABLES[draft.scope], ...offered])].map((name) => (
            <button key={name} type="button" class="mono" onClick={() => insert(name)}>
              <Hostile text={`{{${name}}}`} />
            </button>
          ))}
        </p>
      )}
      {used.length > 0 && (
        <p class="evaluator-variables">
          In use:{' '}
          {used.map((name) => (
            <span key={name} class={name === unknown ? 'chip chip-bad' : 'chip'}>
              <code>
                <Hostile text={name} />
              </code>
              {name === unknown && ' is unknown'}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

/** The bounds of an LLM-RANGE. */
function RangeFields({ draft, onChange, fault }: FormProps) {
  return (
    <div class="evaluator-row">
      <TextField
        label="Lowest score"
        type="number"
        value={draft.min}
        fault={faultOf(fault, 'range')}
        onChange={(min) => onChange({ min })}
      />
      <TextField
        label="Highest score"
        type="number"
        value={draft.max}
        onChange={(max) => onChange({ max })}
      />
    </div>
  );
}

export type LlmFieldsProps = PromptFieldProps & { isSaved: boolean };

/** Shows the fields. The type of a saved evaluator stays. */
export function LlmFields({ isSaved, ...props }: LlmFieldsProps) {
  const { draft, onChange } = props;
  const { scoringType: type, prompt, scope } = draft;
  return (
    <>
      <SelectField
        label="It answers with"
        value={draft.scoringType}
        options={TYPES}
        isDisabled={isSaved}
        {...(isSaved && { hint: 'The type of scores cannot change; make another evaluator for it.' })}
        onChange={(scoringType) => onChange({ scoringType, prompt: promptAfter(prompt, scoringType, scope) })}
      />
      {type === 'LLM-RANGE' && <RangeFields {...props} />}
      {type === 'LLM-CHOICE' && <ChoiceFields {...props} />}
      {type === 'LLM-RUBRIC' && <CriteriaFields {...props} />}
      <ModelField {...props} />
      <PromptField {...props} />
      {isJudgeType(type) && <ExampleFields {...props} />}
      {type !== 'LLM-RUBRIC' && <JuryFields {...props} />}
    </>
  );
}
