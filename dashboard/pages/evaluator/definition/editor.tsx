/** The form of an evaluator, with the try-out beside it. */
import { useEffect, useState } from 'preact/hooks';
import { ApiFailure, call } from '../../../client/call.ts';
import type { Evaluator } from '../../../client/evaluators.ts';
import { Form } from '../../../parts/form/form.tsx';
import { WithScope } from '../../../parts/form/scope.tsx';
import { tell } from '../../../parts/toast/toast.tsx';
import { bodyOf, type Draft, isNewVersion } from './draft.ts';
import { DraftNotice } from './draft-notice.tsx';
import { ExternalFields } from './external-fields.tsx';
import { fieldOf } from './faults.ts';
import { type FormProps, faultOf, SelectField, TextField } from './fields.tsx';
import { promptAfter } from './judge-draft.ts';
import { LlmFields } from './llm-fields.tsx';
import { offeredVariables, usePicked } from './picked.ts';
import { PythonFields } from './python-fields.tsx';
import { TryOut } from './try-out.tsx';
import { useUnsaved } from './unsaved.ts';

export type EditorProps = {
  /** Null: it is new. */
  saved: Evaluator | null;
  first: Draft;
  onSaved: (evaluator: Evaluator) => void;
};

/** Puts the cursor where a refusal points to. */
function useFocusOnFault(fault: string | null): void {
  useEffect(() => {
    if (fault !== null) document.querySelector<HTMLElement>('.evaluator-form [aria-invalid]')?.focus();
  }, [fault]);
}

function KindFields({
  isSaved,
  offered,
  ...props
}: FormProps & { isSaved: boolean; offered: readonly string[] }) {
  switch (props.draft.kind) {
    case 'llm':
      return <LlmFields {...props} isSaved={isSaved} offered={offered} />;
    case 'python':
      return <PythonFields {...props} />;
    case 'external':
      return <ExternalFields {...props} />;
  }
}

const SCOPES = [
  ['request', 'Each request'],
  ['session', 'Each whole session, once it is silent'],
] as const;

function ScopeField({ draft, onChange, fault, isSaved }: FormProps & { isSaved: boolean }) {
  const { scope, scoringType, prompt, kind } = draft;
  if (kind === 'llm' && scoringType === 'LLM-PAIRWISE') return null;
  return (
    <SelectField
      label="It scores"
      value={scope}
      options={SCOPES}
      isDisabled={isSaved}
      fault={faultOf(fault, 'scope')}
      onChange={(next) =>
        onChange({ scope: next, criteria: [], prompt: promptAfter(prompt, scoringType, next) })
      }
    />
  );
}

function BudgetField({ draft, onChange, fault }: FormProps) {
  if (draft.kind === 'python') return null;
  return (
    <TextField
      label="Budget a day, in USD"
      type="number"
      value={draft.budget}
      hint="Empty: no limit. When it is spent, evaluations wait for the next day (UTC)."
      fault={faultOf(fault, 'budget')}
      onChange={(budget) => onChange({ budget })}
    />
  );
}

/** A rubric has no score of its own: its criteria have. */
const isRubric = ({ kind, scoringType }: Draft) => kind === 'llm' && scoringType === 'LLM-RUBRIC';

function ThresholdField({ draft, onChange, fault }: FormProps) {
  return (
    <TextField
      label="Passes from"
      type="number"
      value={draft.threshold}
      hint="The score from which an answer passes. Empty: the middle of its scores. It belongs to the version."
      fault={faultOf(fault, 'threshold')}
      onChange={(threshold) => onChange({ threshold })}
    />
  );
}

/** Says what saving does. */
function SaveNote({ saved, isNew }: { saved: Evaluator | null; isNew: boolean }) {
  if (saved === null)
    return <span class="muted">It scores nothing until it is attached to traffic, or run.</span>;
  return (
    <span class="muted">
      {isNew
        ? `Saving makes version ${saved.version + 1}. Scores of version ${saved.version} stay as they are; what is attached goes on with the new version.`
        : `No new version: the definition is that of version ${saved.version}.`}
    </span>
  );
}

/** Shows the form. Without the scope to save, it can be read. */
export function Editor({ saved, first, onSaved }: EditorProps) {
  const holder = useUnsaved(saved, first);
  const { draft, change } = holder;
  const [fault, setFault] = useState<string | null>(null);
  const picked = usePicked();
  useFocusOnFault(fault);
  /** Shows a refusal at its field. Returns whether there is one. */
  const place = (error: unknown): boolean => {
    const message = error instanceof ApiFailure && error.status === 400 ? error.message : null;
    setFault(message);
    return message !== null && fieldOf(message) !== null;
  };
  const save = async () => {
    setFault(null);
    try {
      const [method, path] = saved === null ? (['POST', ''] as const) : (['PUT', `/${saved.id}`] as const);
      const evaluator = await call<Evaluator>(method, `/v1/evaluator${path}`, bodyOf(draft));
      const isNewer = saved !== null && evaluator.version > saved.version;
      tell(isNewer ? `Saved as version ${evaluator.version}` : 'Saved');
      holder.markSaved(draft, evaluator);
      onSaved(evaluator);
    } catch (error) {
      if (!place(error)) throw error;
    }
  };
  const fields: FormProps = { draft, onChange: change, fault };
  return (
    <div class="evaluator-editor">
      <section class="card evaluator-form" aria-label="Definition">
        <WithScope scope="write" what="create and change evaluators, and to try them out">
          <DraftNotice saved={saved} holder={holder} onDiscard={() => setFault(null)} />
          <Form
            verb={saved === null ? 'Create' : 'Save'}
            onSubmit={save}
            more={<SaveNote saved={saved} isNew={isNewVersion(draft, first)} />}
          >
            <TextField
              label="Name"
              value={draft.name}
              hint="1 to 100 characters. Scores are kept under it, in lower case and with _ for what is no letter or digit."
              fault={faultOf(fault, 'name')}
              onChange={(name) => change({ name })}
            />
            <ScopeField {...fields} isSaved={saved !== null} />
            <KindFields {...fields} isSaved={saved !== null} offered={offeredVariables(picked.record)} />
            {!isRubric(draft) && <ThresholdField {...fields} />}
            <BudgetField {...fields} />
          </Form>
        </WithScope>
      </section>
      <TryOut draft={draft} picked={picked} onRefusal={place} />
    </div>
  );
}
