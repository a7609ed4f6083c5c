/** The fields of a Python evaluator. */
import { Field } from '../../../parts/form/field.tsx';
import { CategoryFields } from './category-fields.tsx';
import { CodeArea } from './code-area.tsx';
import { type FormProps, faultOf, TextField } from './fields.tsx';

/** Shows the code and its limits. */
export function PythonFields({ draft, onChange, fault }: FormProps) {
  return (
    <>
      <Field
        label="Python code"
        fault={faultOf(fault, 'code')}
        hint="It defines evaluate(input, output) and returns a bool, an int or a float, or a category; what it prints is kept as traces. Tab indents; press Escape, then Tab, to leave the field."
        control={(attributes) => (
          <CodeArea
            attributes={attributes}
            rows={16}
            value={draft.code}
            onChange={(code) => onChange({ code })}
          />
        )}
      />
      <CategoryFields draft={draft} onChange={onChange} fault={fault} />
      <details>
        <summary>Limits of one evaluation</summary>
        <div class="evaluator-row">
          <TextField
            label="Time in ms"
            type="number"
            placeholder="2000"
            value={draft.wallMs}
            fault={faultOf(fault, 'limits')}
            onChange={(wallMs) => onChange({ wallMs })}
          />
          <TextField
            label="CPU in seconds"
            type="number"
            placeholder="1"
            value={draft.cpuSeconds}
            onChange={(cpuSeconds) => onChange({ cpuSeconds })}
          />
          <TextField
            label="Memory in MB"
            type="number"
            placeholder="256"
            value={draft.memoryMb}
            onChange={(memoryMb) => onChange({ memoryMb })}
          />
        </div>
      </details>
    </>
  );
}
