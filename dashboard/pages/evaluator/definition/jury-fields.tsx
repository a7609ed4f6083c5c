/** The further members of a jury, and how their scores become one. */
import type { JuryRule } from '#core/contracts/jury.ts';
import { Field } from '../../../parts/form/field.tsx';
import { type FormProps, faultOf, SelectField, TextField } from './fields.tsx';

const RULES: readonly (readonly [JuryRule | '', string])[] = [
  ['', 'What fits the scores'],
  ['majority', 'What more than half give'],
  ['median', 'The median'],
  ['mean', 'The mean'],
];

/** Shows the fields, folded while the judge is alone. */
export function JuryFields({ draft: { jury }, onChange, fault }: FormProps) {
  const sentence = faultOf(fault, 'jury');
  const change = (changes: Partial<typeof jury>) => onChange({ jury: { ...jury, ...changes } });
  return (
    <details open={jury.models !== '' || sentence !== null}>
      <summary>Jury</summary>
      <div class="form">
        <Field
          label="Further models, one a line"
          hint="They judge the same answer. Each costs as much as the judge."
          fault={sentence}
          control={(attributes) => (
            <textarea
              {...attributes}
              class="mono"
              rows={3}
              value={jury.models}
              onInput={({ currentTarget }) => change({ models: currentTarget.value })}
            />
          )}
        />
        <div class="evaluator-row">
          <SelectField
            label="Their score is"
            value={jury.rule}
            options={RULES}
            onChange={(rule) => change({ rule })}
          />
          <TextField
            label="Members that must answer"
            type="number"
            value={jury.quorum}
            hint="Empty: more than half."
            onChange={(quorum) => change({ quorum })}
          />
        </div>
      </div>
    </details>
  );
}
