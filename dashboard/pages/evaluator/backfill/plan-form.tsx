/** The form of a run over history. */
import { useState } from 'preact/hooks';
import { ApiFailure } from '../../../client/call.ts';
import type { Evaluator } from '../../../client/evaluators.ts';
import { Form } from '../../../parts/form/form.tsx';
import { QueryField } from '../../../parts/form/query-field.tsx';
import { SelectField, TextField } from '../definition/fields.tsx';
import type { Plan } from './plan.ts';

const HOW = [
  ['limit', 'The newest'],
  ['sample', 'A sample of all'],
] as const;

export type PlanFormProps = {
  evaluator: Evaluator;
  plan: Plan;
  onChange: (changes: Partial<Plan>) => void;
  onPrice: () => Promise<void>;
};

/** Shows the form; its button counts and prices, and starts nothing. */
export function PlanForm({ evaluator, plan, onChange, onPrice }: PlanFormProps) {
  const [queryFault, setQueryFault] = useState<string | null>(null);
  const price = async () => {
    setQueryFault(null);
    try {
      await onPrice();
    } catch (error) {
      if (!(error instanceof ApiFailure) || !/^(?:q|filter)\b/.test(error.message)) throw error;
      setQueryFault(error.message);
    }
  };
  return (
    <Form verb="Count and price" onSubmit={price} more={<span class="muted">Nothing is scored yet.</span>}>
      <QueryField
        label="Requests"
        hint="A query, such as status:200 created:>=2026-11-01; empty: all requests."
        q={plan.q}
        fault={queryFault}
        onChange={(q) => {
          setQueryFault(null);
          onChange({ q });
        }}
      />
      <div class="evaluator-row">
        <SelectField
          label="Which of them"
          value={plan.how}
          options={HOW}
          onChange={(how) => onChange({ how })}
        />
        <TextField
          label="At most"
          type="number"
          value={plan.n}
          {...(plan.how === 'limit' && { hint: 'Empty: all of them' })}
          onChange={(n) => onChange({ n })}
        />
        {plan.how === 'sample' && (
          <TextField
            label="Seed"
            type="number"
            value={plan.seed}
            hint="Another seed is another sample; empty: the sample of attached traffic"
            onChange={(seed) => onChange({ seed })}
          />
        )}
        {evaluator.llm_template !== null && (
          <TextField
            label="Ends at a cost of, in USD"
            type="number"
            value={plan.maxCost}
            hint="Empty: no limit"
            onChange={(maxCost) => onChange({ maxCost })}
          />
        )}
      </div>
      {evaluator.scoring_type === 'PYTHON' && (
        <label>
          <input
            type="checkbox"
            checked={plan.isBatch}
            onChange={(event) => onChange({ isBatch: event.currentTarget.checked })}
          />{' '}
          Many requests in one process: quicker, for code that keeps nothing between calls
        </label>
      )}
    </Form>
  );
}
