/** The form of an alert, with its try-out. */
import { useState } from 'preact/hooks';
import type { AlertBody, AlertJson, AlertTestJson } from '#core/contracts/alert.ts';
import { type ApiFailure, call } from '../../client/call.ts';
import { toFailure } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { type FieldFault, findFault } from '../../parts/form/fault.ts';
import { Form } from '../../parts/form/form.tsx';
import { QueryField } from '../../parts/form/query-field.tsx';
import { Select } from '../../parts/form/select.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { type AlertFields, bodyOf, fieldsOf } from './alert-fields.ts';
import { TryOut } from './try-out.tsx';
import { WebhookChoice } from './webhook-choice.tsx';
import { AGGREGATES, GROUPINGS, METRICS, NO_DATA } from './words.ts';

const COMPARISONS = ['>', '>=', '<', '<='].map((name) => ({ name, label: name }));
const HOURS = 24;
const FIELDS = ['name', 'window_minutes', 'threshold', 'warning', 'for_minutes', 'q', 'query'];
const PHRASES = { q: /^(?:query\.|alert\.query\.)?q\b/ };

type Choice = { name: string; label: string };

/** Adds a value of the alert that the form does not offer. */
function withValue(options: readonly Choice[], value: string): readonly Choice[] {
  return options.some(({ name }) => name === value) ? options : [...options, { name: value, label: value }];
}

export type AlertFormProps = {
  verb: string;
  /** Null: a new one. */
  alert: AlertJson | null;
  save: (body: AlertBody) => Promise<void>;
};

function useForm(alert: AlertJson | null) {
  const [fields, setFields] = useState(() => fieldsOf(alert));
  const [fault, setFault] = useState<FieldFault | null>(null);
  const change = (changes: Partial<AlertFields>) => setFields((before) => ({ ...before, ...changes }));
  /** Shows what is wrong with a field beside it. */
  const guarded = async (work: () => Promise<void>) => {
    setFault(null);
    try {
      await work();
    } catch (error) {
      const found = findFault(toFailure(error), FIELDS, PHRASES);
      if (found === null) throw error;
      setFault(found);
    }
  };
  return {
    fields,
    change,
    guarded,
    faultAt: (name: string) => (fault?.field === name ? fault.sentence : null),
  };
}

type FormState = ReturnType<typeof useForm>;

function What({ fields, change, faultAt }: FormState) {
  const pickMetric = (metric: string) => {
    const usual = METRICS.find(({ name }) => name === metric)?.aggregate;
    change({ metric, ...(usual !== undefined && { aggregate: usual }) });
  };
  return (
    <>
      <TextField
        label="Name"
        isRequired
        fault={faultAt('name')}
        value={fields.name}
        onInput={(name) => change({ name })}
      />
      <div class="field-row">
        <Select
          label="Metric"
          options={withValue(METRICS, fields.metric)}
          value={fields.metric}
          onChange={pickMetric}
        />
        <Select
          label="Summed up as"
          options={withValue(AGGREGATES, fields.aggregate)}
          value={fields.aggregate}
          onChange={(aggregate) => change({ aggregate })}
        />
        <Select
          label="Of"
          options={withValue(GROUPINGS, fields.groupBy)}
          value={fields.groupBy}
          onChange={(groupBy) => change({ groupBy })}
        />
      </div>
      <QueryField
        label="Filter"
        hint="Of requests, as in the query bar. Empty: all of them."
        fault={faultAt('q') ?? faultAt('query')}
        q={fields.q}
        onChange={(q) => change({ q })}
      />
    </>
  );
}

function When({ fields, change, faultAt }: FormState) {
  const number = (
    name: keyof AlertFields,
    label: string,
    apiName: string,
    hint: string,
    isRequired = true,
  ) => (
    <TextField
      label={label}
      hint={hint}
      type="number"
      isRequired={isRequired}
      fault={faultAt(apiName)}
      value={String(fields[name])}
      onInput={(value) => change({ [name]: value })}
    />
  );
  return (
    <>
      <div class="field-row">
        <Select
          label="Fires when it is"
          options={COMPARISONS}
          value={fields.comparison}
          onChange={(comparison) => change({ comparison })}
        />
        {number('threshold', 'Threshold', 'threshold', 'Shares from 0 to 1, times in ms, money in USD.')}
        {number('warning', 'Warning', 'warning', 'Passed earlier. Empty: none.', false)}
      </div>
      <div class="field-row">
        {number('windowMinutes', 'Window', 'window_minutes', 'In minutes.')}
        {number('forMinutes', 'For', 'for_minutes', 'Minutes beyond the threshold before it fires.')}
        <Select
          label="No data counts"
          options={withValue(NO_DATA, fields.noData)}
          value={fields.noData}
          onChange={(noData) => change({ noData })}
        />
      </div>
      <label>
        <input
          type="checkbox"
          checked={fields.isEnabled}
          onChange={({ currentTarget }) => change({ isEnabled: currentTarget.checked })}
        />{' '}
        Evaluated each minute
      </label>
    </>
  );
}

type Tried = { alert: AlertBody; result: AlertTestJson };

/** Asks the API what the alert would have done, with the fields as they are. */
function useTryOut({ fields, guarded }: FormState, alert: AlertJson | null) {
  const [tried, setTried] = useState<Tried | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isTrying, setTrying] = useState(false);
  const run = async () => {
    setTrying(true);
    setFailure(null);
    const body = bodyOf(fields, alert);
    try {
      await guarded(async () => {
        const result = await call<AlertTestJson>('POST', '/v1/alert/test', { alert: body, hours: HOURS });
        setTried({ alert: body, result });
      });
    } catch (error) {
      setFailure(toFailure(error));
    }
    setTrying(false);
  };
  return { tried, failure, isTrying, run };
}

/** Shows what the API refuses beside the field that it is about, and what the alert would have done when asked. */
export function AlertForm({ verb, alert, save }: AlertFormProps) {
  const form = useForm(alert);
  const { tried, failure, isTrying, run } = useTryOut(form, alert);
  return (
    <Form
      verb={verb}
      onSubmit={() => form.guarded(() => save(bodyOf(form.fields, alert)))}
      more={
        <button type="button" disabled={isTrying} onClick={run}>
          {isTrying ? 'Trying…' : 'Try it out'}
        </button>
      }
    >
      <What {...form} />
      <When {...form} />
      <WebhookChoice chosen={form.fields.webhooks} onChange={(webhooks) => form.change({ webhooks })} />
      <FailureNotice failure={failure} />
      {tried !== null && <TryOut {...tried} hours={HOURS} />}
    </Form>
  );
}
