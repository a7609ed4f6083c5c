/** The form of an API key: a new one's, and that of one that is changed. */
import { useState } from 'preact/hooks';
import type { Scope } from '#core/keys/mod.ts';
import { toFailure } from '../../client/resource.ts';
import { Checks } from '../../parts/form/checks.tsx';
import { type FieldFault, findFault } from '../../parts/form/fault.ts';
import { Form } from '../../parts/form/form.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import type { KeyFields } from './key-fields.ts';

const SCOPES: readonly { name: Scope; label: string; hint: string }[] = [
  { name: 'gateway', label: 'gateway', hint: 'Makes calls to models through the gateway.' },
  { name: 'read', label: 'read', hint: 'Reads requests, scores, metrics and settings.' },
  { name: 'write', label: 'write', hint: 'Changes things: scores, evaluators, prompts, webhooks, keys.' },
];

type TextName = Exclude<keyof KeyFields, 'scopes'>;
type TextInput = {
  name: TextName;
  label: string;
  hint: string;
  /** In the API's sentences, where it is another. */
  apiName?: string;
  isList?: boolean;
  isRequired?: boolean;
  type?: 'text' | 'datetime-local';
};

const NAME: TextInput = { name: 'name', label: 'Name', hint: 'What the key is for.', isRequired: true };
const EXPIRY: TextInput = {
  name: 'expiresAt',
  label: 'Expires',
  hint: 'In your time zone. The key is refused from then on.',
  apiName: 'expires_at',
  type: 'datetime-local',
};

const BOUNDS: readonly TextInput[] = [
  { name: 'models', label: 'Models', hint: 'One a line, such as gpt-4o* or anthropic/*.', isList: true },
  { name: 'providers', label: 'Providers', hint: 'One a line, such as openai.', isList: true },
  { name: 'paths', label: 'Paths', hint: 'One a line, such as /v1/request/*.', isList: true },
  {
    name: 'policy',
    label: 'Rate-limit policy',
    hint: 'On all its calls, such as 1000;w=60 or 500;w=86400;u=cents.',
    apiName: 'rate_limit_policy',
  },
];
const LABELS: readonly TextInput[] = [
  { name: 'owner', label: 'Owner', hint: 'Who answers for the key.' },
  { name: 'tags', label: 'Tags', hint: 'One a line.', isList: true },
];
const API_NAMES = [
  'name',
  'expires_at',
  'models',
  'providers',
  'paths',
  'rate_limit_policy',
  'owner',
  'tags',
];

export type KeyFormProps = {
  verb: string;
  begin: KeyFields;
  /** What an empty bound means. */
  emptyMeans: string;
  save: (fields: KeyFields) => Promise<void>;
};

/** Shows what the API refuses beside the field that it is about. */
export function KeyForm({ verb, begin, emptyMeans, save }: KeyFormProps) {
  const [fields, setFields] = useState(begin);
  const [fault, setFault] = useState<FieldFault | null>(null);
  const change = (changes: Partial<KeyFields>) => setFields((before) => ({ ...before, ...changes }));
  const submit = async () => {
    setFault(null);
    try {
      await save(fields);
    } catch (error) {
      const found = findFault(toFailure(error), API_NAMES, { rate_limit_policy: /rate-limit policy/ });
      if (found === null) throw error;
      setFault(found);
    }
  };
  const textField = ({ name, label, hint, apiName = name, isList = false, ...more }: TextInput) => (
    <TextField
      key={name}
      label={label}
      hint={hint}
      fault={fault?.field === apiName ? fault.sentence : null}
      lines={isList ? 2 : 1}
      value={fields[name]}
      onInput={(value) => change({ [name]: value })}
      {...more}
    />
  );
  return (
    <Form verb={verb} onSubmit={submit}>
      {textField(NAME)}
      <Checks
        legend="Scopes"
        checks={SCOPES}
        chosen={fields.scopes}
        onChange={(scopes) => change({ scopes })}
      />
      {textField(EXPIRY)}
      <div class="field-row">{LABELS.map(textField)}</div>
      <h3>Confined to</h3>
      <p class="field-hint">{emptyMeans}</p>
      <div class="field-row">{BOUNDS.map(textField)}</div>
    </Form>
  );
}
