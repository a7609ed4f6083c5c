/** The list of criteria. */
import type { CriterionBody, CriterionJson } from '#core/contracts/grade.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { CriterionForm } from '../../parts/grades/criterion-form.tsx';
import { loadCriteria, useCriteria } from '../../parts/grades/load.ts';
import { kindText } from '../../parts/grades/values.ts';
import { ROW_LINK, useRowKeys } from '../../parts/table/row-keys.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { tell } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';

const COLUMNS: readonly Column<CriterionJson>[] = [
  {
    name: 'name',
    title: 'Name',
    cell: ({ id, name }) => (
      <a class={`${ROW_LINK} break`} href={`/review/criteria/${encodeURIComponent(id)}`}>
        <Hostile text={name} />
      </a>
    ),
  },
  {
    name: 'kind',
    title: 'A grade is',
    cell: ({ kind }) => (
      <span class="break clamped">
        <Hostile text={kindText(kind)} />
      </span>
    ),
  },
  {
    name: 'description',
    title: 'Description',
    cell: ({ description }) => (
      <span class="break clamped">
        <Hostile text={description} />
      </span>
    ),
  },
  {
    name: 'evaluator',
    title: 'Evaluator',
    cell: ({ evaluator_id: id }) =>
      id !== null && <a href={`/evaluators/${encodeURIComponent(id)}`}>Its statistics</a>,
  },
  { name: 'created', title: 'Made', cell: ({ created_at }) => <Moment at={created_at} /> },
];

const EMPTY = (
  <>
    <h2>No criterion yet</h2>
    <p>People grade answers by criteria: politeness, correctness, tone.</p>
  </>
);

function Create({ onCreated }: { onCreated: () => void }) {
  const { set } = useAddress();
  const close = () => set({ do: null });
  const create = async (body: CriterionBody) => {
    await call('POST', '/v1/criterion', body);
    tell('Made');
    onCreated();
    close();
  };
  return (
    <Dialog title="New criterion" isWide onClose={close}>
      <CriterionForm verb="Make the criterion" criterion={null} save={create} />
    </Dialog>
  );
}

function Archived() {
  const { data, failure, isLoading, reload } = useResource('archived criteria', (signal) =>
    loadCriteria(true, signal),
  );
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      <Table
        caption="Archived criteria"
        columns={COLUMNS}
        rows={data ?? []}
        keyOf={({ id }) => id}
        isLoading={isLoading}
        empty="No criterion is archived."
      />
    </>
  );
}

/** Shows the criteria that are not archived, and the others when they are asked for. */
export function Criteria() {
  const { query, set } = useAddress();
  const box = useRowKeys('Criteria', 'criterion');
  const { data, failure, isLoading, reload } = useCriteria();
  const isArchivedShown = query.archived !== undefined;
  return (
    <>
      <p class="form-actions">
        {may('write') && (
          <button type="button" class="primary" onClick={() => set({ do: 'new' })}>
            New criterion
          </button>
        )}
        <button
          type="button"
          aria-pressed={isArchivedShown}
          onClick={() => set({ archived: isArchivedShown ? null : '1' })}
        >
          Archived ones
        </button>
      </p>
      <FailureNotice failure={failure} retry={reload} />
      {data === null && failure === null && <p class="muted">Loading criteria…</p>}
      <div ref={box}>
        {data !== null && (
          <Table
            caption="Criteria"
            columns={COLUMNS}
            rows={data}
            keyOf={({ id }) => id}
            isLoading={isLoading}
            empty={EMPTY}
          />
        )}
        {isArchivedShown && <Archived />}
      </div>
      {query.do === 'new' && may('write') && <Create onCreated={reload} />}
    </>
  );
}
