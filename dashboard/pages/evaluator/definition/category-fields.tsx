/** The labels that Python code may return, each with the score that is kept. */
import { LabelFields } from '../../../parts/form/label-fields.tsx';
import { type FormProps, faultOf } from './fields.tsx';

/** Shows the categories, folded while there is none. */
export function CategoryFields({ draft, onChange, fault }: FormProps) {
  const { categories } = draft;
  const sentence = faultOf(fault, 'categories');
  return (
    <details open={categories.length > 0 || sentence !== null}>
      <summary>Labels that it may return{categories.length > 0 && ` (${categories.length})`}</summary>
      <LabelFields
        legend="Categories"
        what="category"
        labels={categories}
        fault={sentence}
        hint="Labels that the code may return, with their scores. Without any it returns numbers."
        onChange={(next) => onChange({ categories: next })}
      />
    </details>
  );
}
