/** A field for a query text, such as `status:>=500 -user:bot`, that names a mistake while it is written. */
import { Field } from './field.tsx';
import { queryFault } from './query-fault.ts';

export type QueryFieldProps = {
  label: string;
  hint: string;
  q: string;
  onChange: (q: string) => void;
  /** What the API said of it; null: nothing. */
  fault?: string | null;
};

/** @example <QueryField label="Requests" hint="Empty: all" q={q} onChange={setQ} /> */
export function QueryField({ label, hint, q, onChange, fault = null }: QueryFieldProps) {
  return (
    <Field
      label={label}
      hint={hint}
      fault={queryFault(q) ?? fault}
      control={(attributes) => (
        <input
          {...attributes}
          type="text"
          class="mono query-field"
          spellcheck={false}
          autoComplete="off"
          placeholder="status:200 model:gpt-4o*"
          value={q}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    />
  );
}
