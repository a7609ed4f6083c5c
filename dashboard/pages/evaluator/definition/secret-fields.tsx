/** Secrets: written once, never shown again. */
import { useId } from 'preact/hooks';
import type { HeaderDraft, SecretDraft } from './external-draft.ts';
import { TextField } from './fields.tsx';

export type SecretFieldProps = {
  label: string;
  hint?: string;
  secret: SecretDraft;
  fault: string | null;
  onChange: (secret: SecretDraft) => void;
};

/** A secret that is set can be kept, replaced, or removed. */
export function SecretField({ label, hint, secret, fault, onChange }: SecretFieldProps) {
  return (
    <div class="evaluator-secret">
      <TextField
        label={label}
        type="password"
        value={secret.value}
        placeholder={secret.isSet ? 'Set; write another to replace it' : ''}
        {...(hint !== undefined && { hint })}
        fault={fault}
        onChange={(value) => onChange({ ...secret, value })}
      />
      {secret.isSet && (
        <button type="button" onClick={() => onChange({ value: '', isSet: false })}>
          Remove the {label.toLowerCase()}
        </button>
      )}
    </div>
  );
}

export type HeaderFieldsProps = {
  headers: HeaderDraft[];
  fault: string | null;
  onChange: (headers: HeaderDraft[]) => void;
};

/** Headers that the service is sent; their values are secrets. */
export function HeaderFields({ headers, fault, onChange }: HeaderFieldsProps) {
  const faultId = useId();
  const change = (key: number, changes: Partial<HeaderDraft>) =>
    onChange(headers.map((one) => (one.key === key ? { ...one, ...changes } : one)));
  const add = () => {
    const key = Math.max(-1, ...headers.map((one) => one.key)) + 1;
    onChange([...headers, { key, name: '', value: '', isSet: false }]);
  };
  return (
    <fieldset class="evaluator-choices" aria-describedby={fault === null ? undefined : faultId}>
      <legend>Headers</legend>
      {headers.map(({ key, name, value, isSet }, index) => (
        <div key={key} class="evaluator-header">
          <input
            type="text"
            class="mono"
            aria-label={`Name of header ${index + 1}`}
            placeholder="x-api-key"
            value={name}
            onInput={(event) => change(key, { name: event.currentTarget.value, isSet: false })}
          />
          <input
            type="password"
            autoComplete="off"
            aria-label={`Value of header ${index + 1}`}
            placeholder={isSet ? 'Set; write another to replace it' : 'Value'}
            value={value}
            onInput={(event) => change(key, { value: event.currentTarget.value })}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove header ${index + 1}`}
            onClick={() => onChange(headers.filter((one) => one.key !== key))}
          >
            ✕
          </button>
        </div>
      ))}
      {fault !== null && (
        <p id={faultId} class="bad">
          {fault}
        </p>
      )}
      <button type="button" onClick={add}>
        Add a header
      </button>
    </fieldset>
  );
}
