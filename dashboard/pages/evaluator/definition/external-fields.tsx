/** The fields of an external evaluator, by its adapter. Secrets are written once, and then only shown to be set. */
import { type Adapter, SCORERS } from '#core/evaluations/mod.ts';
import type { ExternalDraft } from './external-draft.ts';
import { type FormProps, faultOf, SelectField, TextField } from './fields.tsx';
import { HeaderFields, SecretField } from './secret-fields.tsx';

const ADAPTERS: readonly (readonly [Adapter, string])[] = [
  ['http', 'A service of your own, by HTTP'],
  ['autoeval', "LastMile's AutoEval, or one like it"],
  ['autoevals', 'A comparison that runs here'],
  ['imported', 'Judgments made elsewhere, which are imported'],
];
const EXPECTED: readonly (readonly [ExternalDraft['expectedKind'], string])[] = [
  ['none', 'Nothing'],
  ['value', 'This value'],
  ['variable', 'A variable of the request'],
];

type PartProps = {
  external: ExternalDraft;
  change: (changes: Partial<ExternalDraft>) => void;
  fault: string | null;
};

function UrlField({ external, change, fault, hint }: PartProps & { hint: string }) {
  return (
    <TextField
      label="URL"
      isMono
      value={external.url}
      placeholder="https://scores.example.com/score"
      hint={hint}
      fault={faultOf(fault, 'url')}
      onChange={(url) => change({ url })}
    />
  );
}

function TimeoutField({ external, change, fault }: PartProps) {
  return (
    <TextField
      label="Timeout in ms"
      type="number"
      placeholder="30000"
      value={external.timeoutMs}
      fault={faultOf(fault, 'timeout')}
      onChange={(timeoutMs) => change({ timeoutMs })}
    />
  );
}

function ExpectedFields({ external, change, fault }: PartProps) {
  return (
    <>
      <SelectField
        label="The answer is compared with"
        value={external.expectedKind}
        options={EXPECTED}
        onChange={(expectedKind) => change({ expectedKind })}
      />
      {external.expectedKind === 'value' && (
        <TextField
          label="Expected value"
          isMono
          hint="JSON, else a text"
          value={external.expected}
          fault={faultOf(fault, 'expected')}
          onChange={(expected) => change({ expected })}
        />
      )}
      {external.expectedKind === 'variable' && (
        <TextField
          label="Variable"
          isMono
          placeholder="inputs.answer"
          value={external.expectedFrom}
          fault={faultOf(fault, 'expected')}
          onChange={(expectedFrom) => change({ expectedFrom })}
        />
      )}
    </>
  );
}

function HttpFields(props: PartProps) {
  const { external, change, fault } = props;
  return (
    <>
      <UrlField
        {...props}
        hint="It gets a POST for each evaluation, and answers {score, reasoning}. With another URL, secrets must be written again."
      />
      <HeaderFields
        headers={external.headers}
        fault={faultOf(fault, 'headers')}
        onChange={(headers) => change({ headers })}
      />
      <SecretField
        label="Signing secret"
        hint="whsec_ and 24 to 64 bytes as base64; messages are then signed by the scheme of Standard Webhooks."
        secret={external.secret}
        fault={faultOf(fault, 'secret')}
        onChange={(secret) => change({ secret })}
      />
      <TimeoutField {...props} />
    </>
  );
}

function AutoevalFields(props: PartProps) {
  const { external, change, fault } = props;
  return (
    <>
      <div class="evaluator-row">
        <TextField
          label="Metric"
          value={external.metric}
          hint="This or the id, not both"
          fault={faultOf(fault, 'metric')}
          onChange={(metric) => change({ metric })}
        />
        <TextField
          label="Metric id"
          value={external.metricId}
          onChange={(metricId) => change({ metricId })}
        />
        <TextField
          label="Project id"
          value={external.projectId}
          onChange={(projectId) => change({ projectId })}
        />
      </div>
      <SecretField
        label="API key"
        secret={external.apiKey}
        fault={faultOf(fault, 'apiKey')}
        onChange={(apiKey) => change({ apiKey })}
      />
      <UrlField {...props} hint="Empty: LastMile's own" />
      <ExpectedFields {...props} />
      <TimeoutField {...props} />
    </>
  );
}

function AutoevalsFields(props: PartProps) {
  const { external, change, fault } = props;
  return (
    <>
      <SelectField
        label="Scorer"
        value={external.scorer}
        options={SCORERS.map((name) => [name, name] as const)}
        fault={faultOf(fault, 'scorer')}
        onChange={(scorer) => change({ scorer })}
      />
      {external.scorer !== 'ValidJSON' && <ExpectedFields {...props} />}
      {external.scorer === 'ListContains' && (
        <label>
          <input
            type="checkbox"
            checked={external.allowExtraEntities}
            onChange={(event) => change({ allowExtraEntities: event.currentTarget.checked })}
          />{' '}
          Extra items of the answer do not count
        </label>
      )}
    </>
  );
}

function ImportedHint() {
  return (
    <p class="evaluator-variables">
      Nothing is called. Judgments come by POST /v1/evaluator/&#123;id&#125;/evaluations.
    </p>
  );
}

const PARTS = {
  http: HttpFields,
  autoeval: AutoevalFields,
  autoevals: AutoevalsFields,
  imported: ImportedHint,
};

/** Shows the fields of the adapter. */
export function ExternalFields({ draft, onChange, fault }: FormProps) {
  const { external } = draft;
  const change = (changes: Partial<ExternalDraft>) => onChange({ external: { ...external, ...changes } });
  const Part = PARTS[external.adapter];
  return (
    <>
      <SelectField
        label="It is scored by"
        value={external.adapter}
        options={ADAPTERS}
        onChange={(adapter) => change({ adapter })}
      />
      <Part external={external} change={change} fault={fault} />
    </>
  );
}
