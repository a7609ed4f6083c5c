/** The form of a criterion, new or to be changed. */
import { useState } from 'preact/hooks';
import type { CriterionBody, CriterionJson } from '#core/contracts/grade.ts';
import type { Kind } from '#core/grades/mod.ts';
import { call } from '../../client/call.ts';
import type { Evaluator } from '../../client/evaluators.ts';
import { toFailure, useResource } from '../../client/resource.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { type FieldFault, findFault } from '../form/fault.ts';
import { Form } from '../form/form.tsx';
import { LabelFields } from '../form/label-fields.tsx';
import { Select } from '../form/select.tsx';
import { TextField } from '../form/text-field.tsx';
import { bodyOf, type CriterionFields, fieldsOf } from './criterion-fields.ts';

const KINDS = [
  { name: 'boolean', label: 'Yes or no' },
  { name: 'scale', label: 'A number on a scale' },
  { name: 'categories', label: 'One of some labels' },
];
const FIELDS = ['name', 'description', 'min', 'max', 'step', 'labels', 'kind', 'evaluatorId'];
const PHRASES = {
  min: /^kind\.min\b/,
  max: /^kind\.max\b/,
  step: /^kind\.step\b/,
  labels: /^kind\.labels\b/,
};

type FormState = {
  fields: CriterionFields;
  change: (changes: Partial<CriterionFields>) => void;
  faultAt: (name: string) => string | null;
};

function ScaleFields({ fields, change, faultAt }: FormState) {
  const number = (name: 'min' | 'max' | 'step', label: string, hint?: string) => (
    <TextField
      label={label}
      type="number"
      isRequired={name !== 'step'}
      value={fields[name]}
      fault={faultAt(name)}
      hint={hint}
      onInput={(text) => change({ [name]: text })}
    />
  );
  return (
    <div class="field-row">
      {number('min', 'Lowest')}
      {number('max', 'Highest')}
      {number('step', 'Step', 'Empty: any number')}
    </div>
  );
}

function KindFields(props: FormState) {
  const { fields, change, faultAt } = props;
  return (
    <>
      <Select
        label="A grade is"
        options={KINDS}
        value={fields.type}
        fault={faultAt('kind')}
        hint="It cannot change once there are grades."
        onChange={(type) => change({ type: type as Kind['type'] })}
      />
      {fields.type === 'scale' && <ScaleFields {...props} />}
      {fields.type === 'categories' && (
        <LabelFields
          legend="Labels"
          what="label"
          hint="Labels with scores can be compared with an evaluator."
          labels={fields.labels}
          fault={faultAt('labels')}
          onChange={(labels) => change({ labels })}
        />
      )}
    </>
  );
}

function EvaluatorChoice({ fields, change, faultAt }: FormState) {
  const { data, failure, reload } = useResource('evaluators', (signal) =>
    call<Evaluator[]>('GET', '/v1/evaluator', undefined, signal),
  );
  const options = (data ?? []).map(({ id, name }) => ({ name: id, label: name }));
  const isKnown = fields.evaluatorId === '' || options.some(({ name }) => name === fields.evaluatorId);
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      <Select
        label="Evaluator that judges the same"
        options={[
          { name: '', label: 'None' },
          ...options,
          ...(isKnown ? [] : [{ name: fields.evaluatorId, label: `Evaluator ${fields.evaluatorId}` }]),
        ]}
        value={fields.evaluatorId}
        fault={faultAt('evaluatorId')}
        hint="Its agreement with people is then computed from these grades."
        onChange={(evaluatorId) => change({ evaluatorId })}
      />
    </>
  );
}

export type CriterionFormProps = {
  verb: string;
  /** Null: a new one. */
  criterion: CriterionJson | null;
  save: (body: CriterionBody) => Promise<void>;
};

/** Shows the form. What the API refuses is shown beside the field that it is about. */
export function CriterionForm({ verb, criterion, save }: CriterionFormProps) {
  const [fields, setFields] = useState(() => fieldsOf(criterion));
  const [fault, setFault] = useState<FieldFault | null>(null);
  const form: FormState = {
    fields,
    change: (changes) => setFields((before) => ({ ...before, ...changes })),
    faultAt: (name) => (fault?.field === name ? fault.sentence : null),
  };
  const submit = async () => {
    setFault(null);
    try {
      await save(bodyOf(fields));
    } catch (error) {
      const found = findFault(toFailure(error), FIELDS, PHRASES);
      if (found === null) throw error;
      setFault(found);
    }
  };
  return (
    <Form verb={verb} onSubmit={submit}>
      <TextField
        label="Name"
        isRequired
        maxLength={100}
        value={fields.name}
        fault={form.faultAt('name')}
        onInput={(name) => form.change({ name })}
      />
      <TextField
        label="Description"
        lines={3}
        maxLength={10_000}
        value={fields.description}
        fault={form.faultAt('description')}
        hint="What to look at, for those who grade."
        onInput={(description) => form.change({ description })}
      />
      <KindFields {...form} />
      <EvaluatorChoice {...form} />
    </Form>
  );
}
