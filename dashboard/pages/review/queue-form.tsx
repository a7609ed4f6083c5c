/** The form of a new review queue. Its items are fixed when it is made. */
import { useState } from 'preact/hooks';
import type { CriterionJson } from '#core/contracts/grade.ts';
import type { ReviewQueueBody } from '#core/contracts/review.ts';
import { call } from '../../client/call.ts';
import type { Evaluator } from '../../client/evaluators.ts';
import { toFailure, useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Checks } from '../../parts/form/checks.tsx';
import { type FieldFault, findFault } from '../../parts/form/fault.ts';
import { Form } from '../../parts/form/form.tsx';
import { QueryField } from '../../parts/form/query-field.tsx';
import { Select } from '../../parts/form/select.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { kindText } from '../../parts/grades/values.ts';
import { FILLINGS, FIRST_SOURCE, type SourceFields, sourceOf } from './source.ts';

const FIELDS = ['name', 'perItem', 'q', 'n', 'seed'];
const PHRASES = { q: /^source\.q\b/, n: /^source\.sample\.n\b/, seed: /^source\.sample\.seed\b/ };

type FilledProps = {
  source: SourceFields;
  change: (changes: Partial<SourceFields>) => void;
  faultAt: (name: string) => string | null;
};

function EvaluatorChoice({ source: { evaluatorId }, change }: FilledProps) {
  const { data, failure, reload } = useResource('evaluators', (signal) =>
    call<Evaluator[]>('GET', '/v1/evaluator', undefined, signal),
  );
  const options = (data ?? []).map(({ id, name }) => ({ name: id, label: name }));
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      <Select
        label="Evaluator"
        options={[{ name: '', label: 'Choose one' }, ...options]}
        value={evaluatorId}
        onChange={(id) => change({ evaluatorId: id })}
        hint="Requests of which a person says another thing than its current version, or than another person."
      />
    </>
  );
}

function SourceForm(props: FilledProps) {
  const { source, change, faultAt } = props;
  const { filling, q, n, seed } = source;
  return (
    <>
      <Select
        label="Filled with"
        options={FILLINGS}
        value={filling}
        onChange={(name) => change({ filling: name as SourceFields['filling'] })}
      />
      {filling === 'disagreement' ? (
        <EvaluatorChoice {...props} />
      ) : (
        <QueryField
          label="Filter"
          hint="As in the query bar. Empty: all requests."
          q={q}
          onChange={(text) => change({ q: text })}
          fault={faultAt('q')}
        />
      )}
      {filling !== 'filter' && (
        <div class="field-row">
          <TextField
            label="Requests"
            type="number"
            isRequired={filling === 'sample'}
            value={n}
            fault={faultAt('n')}
            hint={filling === 'sample' ? '1 to 10,000' : 'Empty: all of them, at most 10,000'}
            onInput={(text) => change({ n: text })}
          />
          <TextField
            label="Seed"
            type="number"
            isRequired
            value={seed}
            fault={faultAt('seed')}
            hint="The same one draws the same requests."
            onInput={(text) => change({ seed: text })}
          />
        </div>
      )}
    </>
  );
}

export type QueueFormProps = {
  criteria: readonly CriterionJson[];
  save: (body: ReviewQueueBody) => Promise<void>;
};

/** Shows the form; without a criterion, the way to make one. */
export function QueueForm({ criteria, save }: QueueFormProps) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<string[]>([]);
  const [perItem, setPerItem] = useState('1');
  const [source, setSource] = useState(FIRST_SOURCE);
  const [fault, setFault] = useState<FieldFault | null>(null);
  if (criteria.length === 0)
    return (
      <p>
        There is no criterion to grade by yet. <a href="/review?tab=criteria&do=new">Make one first</a>.
      </p>
    );
  const submit = async () => {
    setFault(null);
    try {
      await save({ name, criterionIds: chosen, perItem: Number(perItem), source: sourceOf(source) });
    } catch (error) {
      const found = findFault(toFailure(error), FIELDS, PHRASES);
      if (found === null) throw error;
      setFault(found);
    }
  };
  const faultAt = (field: string) => (fault?.field === field ? fault.sentence : null);
  const isReady = chosen.length > 0 && (source.filling !== 'disagreement' || source.evaluatorId !== '');
  return (
    <Form verb="Make the queue" onSubmit={submit} isReady={isReady}>
      <TextField
        label="Name"
        isRequired
        maxLength={100}
        value={name}
        fault={faultAt('name')}
        onInput={setName}
      />
      <Checks
        legend="Criteria"
        checks={criteria.map(({ id, name: label, kind }) => ({ name: id, label, hint: kindText(kind) }))}
        chosen={chosen}
        onChange={setChosen}
      />
      <SourceForm
        source={source}
        change={(changes) => setSource((before) => ({ ...before, ...changes }))}
        faultAt={faultAt}
      />
      <TextField
        label="People an item"
        type="number"
        isRequired
        value={perItem}
        fault={faultAt('perItem')}
        hint="1 to 10. With more than one, how far people agree can be computed."
        onInput={setPerItem}
      />
    </Form>
  );
}
