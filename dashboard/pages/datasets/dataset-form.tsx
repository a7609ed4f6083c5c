/** The form of a dataset itself: its name, what it is for, and the schemas of its items. */
import { useState } from 'preact/hooks';
import type { DatasetJson, NewDatasetBody } from '#core/contracts/dataset.ts';
import { Form } from '../../parts/form/form.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { type DatasetFields, datasetBody, datasetFields, schemaFault } from './dataset-fields.ts';

export type DatasetFormProps = {
  verb: string;
  /** Null: a new one. */
  dataset: DatasetJson | null;
  save: (body: NewDatasetBody) => Promise<void>;
};

/** Shows the fields. */
export function DatasetForm({ verb, dataset, save }: DatasetFormProps) {
  const [fields, setFields] = useState(() => datasetFields(dataset));
  const change = (changes: Partial<DatasetFields>) => setFields((before) => ({ ...before, ...changes }));
  const schema = (name: 'requestSchema' | 'expectedSchema', label: string) => (
    <TextField
      label={label}
      isMono
      lines={4}
      value={fields[name]}
      onInput={(text) => change({ [name]: text })}
      hint="A JSON Schema that later items must fit. Empty: none"
      fault={schemaFault(fields[name])}
    />
  );
  const isReady =
    fields.name.trim() !== '' &&
    schemaFault(fields.requestSchema) === null &&
    schemaFault(fields.expectedSchema) === null;
  return (
    <Form verb={verb} onSubmit={() => save(datasetBody(fields, dataset))} isReady={isReady}>
      <TextField
        label="Name"
        isRequired
        maxLength={200}
        value={fields.name}
        onInput={(name) => change({ name })}
      />
      <TextField
        label="Description"
        lines={2}
        value={fields.description}
        onInput={(description) => change({ description })}
      />
      <details>
        <summary>Schemas of the items</summary>
        {schema('requestSchema', 'Of the request')}
        {schema('expectedSchema', 'Of what is expected')}
      </details>
    </Form>
  );
}
