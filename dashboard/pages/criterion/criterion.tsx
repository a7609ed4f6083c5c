/** The page /review/criteria/:id: a criterion, how far people agree by it, and what they graded last. */
import type { CriterionBody, CriterionJson, CriterionPatch } from '#core/contracts/grade.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { CriterionForm } from '../../parts/grades/criterion-form.tsx';
import { kindText } from '../../parts/grades/values.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { tell } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { EvaluatorAgreement } from './evaluator-agreement.tsx';
import { LatestGrades } from './latest-grades.tsx';
import { PeopleAgreement } from './people-agreement.tsx';

type OfCriterionProps = { criterion: CriterionJson; reload: () => void };

const pathOf = (id: string) => `/v1/criterion/${encodeURIComponent(id)}`;

function Dialogs({ criterion, reload }: OfCriterionProps) {
  const { query, set } = useAddress();
  const close = () => set({ do: null });
  if (query.do === 'edit') {
    const change = async (body: CriterionBody) => {
      await call('PATCH', pathOf(criterion.id), body satisfies CriterionPatch);
      tell('Saved');
      reload();
      close();
    };
    return (
      <Dialog title="Change the criterion" isWide onClose={close}>
        <CriterionForm verb="Save" criterion={criterion} save={change} />
      </Dialog>
    );
  }
  if (query.do !== 'archive') return null;
  return (
    <Confirm
      title={`Archive ${criterion.name}?`}
      text="Its grades stay and can be read, it takes no others, and its name is free. Review queues no longer ask for it. This cannot be taken back."
      verb="Archive"
      run={async () => {
        await call('DELETE', pathOf(criterion.id));
        tell('Archived');
        reload();
      }}
      onClose={close}
    />
  );
}

function Buttons({ criterion: { archived_at: archivedAt } }: { criterion: CriterionJson }) {
  const { set } = useAddress();
  if (archivedAt !== null) return <span class="chip">Archived</span>;
  if (!may('write')) return null;
  return (
    <>
      <button type="button" onClick={() => set({ do: 'edit' })}>
        Change
      </button>
      <button type="button" class="danger" onClick={() => set({ do: 'archive' })}>
        Archive
      </button>
    </>
  );
}

/** Shows the criterion of the address. */
export function CriterionPage({ id }: { id: string }) {
  const key = `criterion ${id}`;
  const { data, dataKey, failure, reload } = useResource(key, (signal) =>
    call<CriterionJson>('GET', pathOf(id), undefined, signal),
  );
  const criterion = dataKey === key ? data : null;
  return (
    <>
      <p class="evaluator-back">
        <a href="/review?tab=criteria">Criteria</a>
      </p>
      <header class="page-head">
        <h1 class="break">{criterion === null ? 'Criterion' : <Hostile text={criterion.name} />}</h1>
        {criterion !== null && <Buttons criterion={criterion} />}
      </header>
      <FailureNotice failure={failure} retry={reload} />
      {criterion === null && failure === null && <p class="muted">Loading the criterion…</p>}
      {criterion !== null && (
        <div key={id} class="criterion">
          <p class="break">
            <span class="chip">A grade is</span> <Hostile text={kindText(criterion.kind)} />
          </p>
          <p class="break text-plain">
            <Hostile text={criterion.description} />
          </p>
          <PeopleAgreement criterionId={id} />
          <EvaluatorAgreement evaluatorId={criterion.evaluator_id} criterionId={id} />
          <LatestGrades criterionId={id} />
          {may('write') && criterion.archived_at === null && (
            <Dialogs criterion={criterion} reload={reload} />
          )}
        </div>
      )}
    </>
  );
}
