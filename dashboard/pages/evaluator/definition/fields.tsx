/** Small fields that the forms of all kinds are made of. */
import type { ComponentChildren } from 'preact';
import { Field } from '../../../parts/form/field.tsx';
import type { Draft } from './draft.ts';
import { type FieldName, fieldOf } from './faults.ts';

export type FormProps = {
  draft: Draft;
  onChange: (changes: Partial<Draft>) => void;
  /** What the API said of the last try, if it is about a field. */
  fault: string | null;
};

/** Returns what the API said of a field; null: nothing. */
export function faultOf(fault: string | null, name: FieldName): string | null {
  return fault !== null && fieldOf(fault) === name ? fault : null;
}

export type TextFieldProps = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ComponentChildren;
  fault?: string | null;
  type?: 'text' | 'number' | 'password';
  placeholder?: string;
  /** The id of a datalist. */
  list?: string;
  isMono?: boolean;
};

function inputKind(type: TextFieldProps['type'], list: string | undefined) {
  if (list !== undefined) return { type: 'text', list } as const;
  switch (type) {
    case 'number':
      return { type, step: 'any' } as const;
    case 'password':
      return { type } as const;
    default:
      return { type: 'text' } as const;
  }
}

/** A field of one line. */
export function TextField({
  label,
  value,
  onChange,
  hint,
  fault = null,
  type = 'text',
  placeholder,
  list,
  isMono = false,
}: TextFieldProps) {
  return (
    <Field
      label={label}
      {...(hint !== undefined && { hint })}
      fault={fault}
      control={(attributes) => (
        <input
          {...attributes}
          {...inputKind(type, list)}
          class={isMono ? 'mono' : undefined}
          autoComplete="off"
          spellcheck={false}
          placeholder={placeholder}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    />
  );
}

export type SelectFieldProps<Value extends string> = {
  label: string;
  value: Value;
  options: readonly (readonly [Value, string])[];
  onChange: (value: Value) => void;
  hint?: ComponentChildren;
  fault?: string | null;
  isDisabled?: boolean;
};

/** A choice of few. */
export function SelectField<Value extends string>({
  label,
  value,
  options,
  onChange,
  hint,
  fault = null,
  isDisabled = false,
}: SelectFieldProps<Value>) {
  return (
    <Field
      label={label}
      {...(hint !== undefined && { hint })}
      fault={fault}
      control={(attributes) => (
        <select
          {...attributes}
          disabled={isDisabled}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value as Value)}
        >
          {options.map(([one, words]) => (
            <option key={one} value={one}>
              {words}
            </option>
          ))}
        </select>
      )}
    />
  );
}
