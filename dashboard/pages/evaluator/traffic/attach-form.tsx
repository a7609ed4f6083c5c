/** The form of what is attached to traffic. */
import { useState } from 'preact/hooks';
import { ApiFailure } from '../../../client/call.ts';
import type { Evaluator } from '../../../client/evaluators.ts';
import { Form } from '../../../parts/form/form.tsx';
import { QueryField } from '../../../parts/form/query-field.tsx';
import { TextField } from '../definition/fields.tsx';
import type { Attachment, PropertyDraft } from './attachment.ts';

type PropertiesProps = { properties: PropertyDraft[]; onChange: (properties: PropertyDraft[]) => void };

function Properties({ properties, onChange }: PropertiesProps) {
  const change = (key: number, changes: Partial<PropertyDraft>) =>
    onChange(properties.map((one) => (one.key === key ? { ...one, ...changes } : one)));
  const add = () => {
    const key = Math.max(-1, ...properties.map((one) => one.key)) + 1;
    onChange([...properties, { key, name: '', value: '' }]);
  };
  return (
    <fieldset class="evaluator-choices">
      <legend>Properties that a request must have</legend>
      {properties.map(({ key, name, value }, index) => (
        <div key={key} class="evaluator-header">
          <input
            type="text"
            aria-label={`Name of property ${index + 1}`}
            placeholder="Plan"
            value={name}
            onInput={(event) => change(key, { name: event.currentTarget.value })}
          />
          <input
            type="text"
            aria-label={`Value of property ${index + 1}`}
            placeholder="pro"
            value={value}
            onInput={(event) => change(key, { value: event.currentTarget.value })}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove property ${index + 1}`}
            onClick={() => onChange(properties.filter((one) => one.key !== key))}
          >
            ✕
          </button>
        </div>
      ))}
      <button type="button" onClick={add}>
        Add a property
      </button>
    </fieldset>
  );
}

export type AttachFormProps = {
  verb: string;
  evaluator: Evaluator;
  first: Attachment;
  onSubmit: (draft: Attachment) => Promise<void>;
};

/** Shows the form. A refusal of the query text is shown at its field. */
export function AttachForm({ verb, evaluator, first, onSubmit }: AttachFormProps) {
  const [draft, setDraft] = useState(first);
  const [queryFault, setQueryFault] = useState<string | null>(null);
  const change = (changes: Partial<Attachment>) => {
    setQueryFault(null);
    setDraft((before) => ({ ...before, ...changes }));
  };
  const submit = async () => {
    try {
      await onSubmit(draft);
    } catch (error) {
      const isOfQuery = error instanceof ApiFailure && /^(?:config\.)?(?:q|filter)\b/.test(error.message);
      if (!isOfQuery) throw error;
      setQueryFault(error.message);
    }
  };
  return (
    <Form verb={verb} onSubmit={submit}>
      <div class="evaluator-row">
        <TextField
          label={`Share of the ${draft.idleSeconds === null ? 'requests' : 'sessions'}, in percent`}
          type="number"
          value={draft.sampleRate}
          hint="Always the same ones: a larger share includes a smaller one."
          onChange={(sampleRate) => change({ sampleRate })}
        />
        {draft.idleSeconds !== null && (
          <TextField
            label="Scored after a silence of so many seconds"
            type="number"
            value={draft.idleSeconds}
            hint="A session that goes on afterwards is scored anew."
            onChange={(idleSeconds) => change({ idleSeconds })}
          />
        )}
        {evaluator.llm_template !== null && draft.idleSeconds === null && (
          <TextField
            label="Probed, in percent of these"
            type="number"
            value={draft.probeRate}
            hint="Judged a second time with one thing changed, to measure the judge itself. Costs as much again."
            onChange={(probeRate) => change({ probeRate })}
          />
        )}
      </div>
      <Properties properties={draft.properties} onChange={(properties) => change({ properties })} />
      <QueryField
        label="Only requests that pass"
        hint="A query, such as status:200 model:gpt-4o*; empty: all requests."
        q={draft.q}
        fault={queryFault}
        onChange={(q) => change({ q })}
      />
    </Form>
  );
}
