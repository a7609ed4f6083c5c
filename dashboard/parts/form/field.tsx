/** A field of a form: its label above, a hint below, and what is wrong with it. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export type FieldProps = {
  label: string;
  hint?: ComponentChildren | undefined;
  /** What is wrong; null: nothing. */
  fault?: string | null;
  /** Renders the control with these attributes. */
  control: (attributes: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean | undefined;
  }) => ComponentChildren;
};

/** @example <Field label="Name" control={(attributes) => <input {...attributes} type="text" />} /> */
export function Field({ label, hint, fault = null, control }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  const isDescribed = hint !== undefined || fault !== null;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control({
        id,
        'aria-describedby': isDescribed ? hintId : undefined,
        'aria-invalid': fault === null ? undefined : true,
      })}
      {isDescribed && (
        <div id={hintId} class="field-hint">
          {fault !== null && <p class="bad">{fault}</p>}
          {hint}
        </div>
      )}
    </div>
  );
}
