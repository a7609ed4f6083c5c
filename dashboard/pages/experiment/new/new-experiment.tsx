/** The form of a new experiment, at /experiments/new. */
import { useState } from 'preact/hooks';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import { call } from '../../../client/call.ts';
import type { Evaluator } from '../../../client/evaluators.ts';
import { useResource } from '../../../client/resource.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { Checks } from '../../../parts/form/checks.tsx';
import { Form } from '../../../parts/form/form.tsx';
import { WithScope } from '../../../parts/form/scope.tsx';
import { TextField } from '../../../parts/form/text-field.tsx';
import { useAddress } from '../../../state/address.ts';
import { kindOf } from '../../evaluators/standing.ts';
import { experimentAddress } from '../../experiments/address.ts';
import { DatasetFields } from './dataset-fields.tsx';
import { bodyOf, type Fields, fieldsOf, isReady } from './fields.ts';
import { type FieldsProps, TargetFields } from './target-fields.tsx';

function Evaluators({ fields, change }: FieldsProps) {
  const { data, failure, reload } = useResource('evaluators', (signal) =>
    call<Evaluator[]>('GET', '/v1/evaluator', undefined, signal),
  );
  if (failure !== null) return <FailureNotice failure={failure} retry={reload} />;
  if (data?.length === 0) {
    return (
      <p class="muted">
        There is no <a href="/evaluators">evaluator</a> yet: without one, costs, times and errors are compared
        alone.
      </p>
    );
  }
  return (
    <Checks
      legend="Evaluators"
      checks={(data ?? []).map(({ id, name, scoring_type, version }) => ({
        name: id,
        label: name,
        hint: `${kindOf(scoring_type)}, version ${version}`,
      }))}
      chosen={fields.evaluatorIds}
      onChange={(evaluatorIds) => change({ evaluatorIds })}
    />
  );
}

function Bounds({ fields, change }: FieldsProps) {
  const number = (name: 'repetitions' | 'maxCost' | 'concurrency' | 'seed', label: string, hint: string) => (
    <TextField
      label={label}
      type="number"
      value={fields[name]}
      onInput={(value) => change({ [name]: value })}
      hint={hint}
    />
  );
  return (
    <>
      <div class="field-row">
        {number('repetitions', 'Repetitions', 'Answers of each item, 1 to 20')}
        {number('maxCost', 'Budget', 'US dollars, of answers and judges together. Empty: no limit')}
      </div>
      <details>
        <summary>More</summary>
        <div class="form">
          <div class="field-row">
            {number('concurrency', 'Calls at a time', 'Empty: 8')}
            {number('seed', 'Seed', 'Of the order of the items. Empty: 0')}
          </div>
          <label>
            <input
              type="checkbox"
              checked={fields.isCached}
              onChange={({ currentTarget }) => change({ isCached: currentTarget.checked })}
            />{' '}
            Answers may come from the cache
          </label>
        </div>
      </details>
    </>
  );
}

/** Goes to the experiment that it has made. */
export function NewExperiment() {
  const { query, go } = useAddress();
  const [fields, setFields] = useState(() => fieldsOf(query));
  const change = (changes: Partial<Fields>) => setFields((before) => ({ ...before, ...changes }));
  const create = async () => {
    const { id } = await call<ExperimentJson>('POST', '/v1/experiment', bodyOf(fields));
    go(experimentAddress(id));
  };
  return (
    <>
      <p class="evaluator-back">
        <a href="/experiments">Experiments</a>
      </p>
      <header class="page-head">
        <h1>New experiment</h1>
      </header>
      <WithScope scope="write" what="make experiments">
        <div class="card experiment-new">
          <Form verb="Start the experiment" onSubmit={create} isReady={isReady(fields)}>
            <TextField
              label="Name"
              isRequired
              maxLength={200}
              value={fields.name}
              onInput={(name) => change({ name })}
            />
            <DatasetFields fields={fields} change={change} />
            <TargetFields fields={fields} change={change} />
            <Evaluators fields={fields} change={change} />
            <Bounds fields={fields} change={change} />
          </Form>
        </div>
      </WithScope>
    </>
  );
}
