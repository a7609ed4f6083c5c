/** A choice of one out of some, with its label. */
import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

export type Option = { name: string; label: string };

export type SelectProps = {
  label: string;
  options: readonly Option[];
  value: string;
  onChange: (name: string) => void;
  hint?: ComponentChildren;
  fault?: string | null;
};

/** @example <Select label="Payload" options={PAYLOADS} value={payload} onChange={setPayload} /> */
export function Select({ label, options, value, onChange, hint, fault = null }: SelectProps) {
  return (
    <Field
      label={label}
      hint={hint}
      fault={fault}
      control={(attributes) => (
        <select {...attributes} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          {options.map((option) => (
            <option key={option.name} value={option.name}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    />
  );
}
