/** A text of one line, or of some, with its label. */
import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

export type TextFieldProps = {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: ComponentChildren;
  fault?: string | null;
  type?: 'text' | 'number' | 'url' | 'password' | 'datetime-local';
  isRequired?: boolean;
  maxLength?: number;
  placeholder?: string;
  /** More than one: a box of so many lines. */
  lines?: number;
  /** Code, such as JSON. */
  isMono?: boolean;
  /** The id of a list of suggestions, for one line. */
  list?: string;
};

/** @example <TextField label="Name" value={name} onInput={setName} isRequired /> */
export function TextField(props: TextFieldProps) {
  const { label, value, onInput, hint, fault = null, type = 'text', isRequired = false, lines = 1 } = props;
  const shared = {
    value,
    required: isRequired,
    ...(props.maxLength !== undefined && { maxLength: props.maxLength }),
    placeholder: props.placeholder,
    ...(props.isMono && { class: 'mono', spellcheck: false }),
  };
  return (
    <Field
      label={label}
      hint={hint}
      fault={fault}
      control={(attributes) =>
        lines > 1 ? (
          <textarea
            {...attributes}
            {...shared}
            rows={lines}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
        ) : (
          <input
            {...attributes}
            {...shared}
            // The attributes of inputs are typed apart for each type; those here suit them all.
            type={type as 'text'}
            step={type === 'number' ? 'any' : undefined}
            list={props.list}
            autocomplete="off"
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
        )
      }
    />
  );
}
