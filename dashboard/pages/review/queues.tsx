/** The list of review queues, with how far each is. */
import { useState } from 'preact/hooks';
import type { CriterionJson } from '#core/contracts/grade.ts';
import type { ReviewQueueJson, WholeReviewQueueJson } from '#core/contracts/review.ts';
import { call } from '../../client/call.ts';
import { createGate } from '../../client/gate.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count } from '../../parts/formats/numbers.ts';
import { useCriteria } from '../../parts/grades/load.ts';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { ROW_LINK, useRowKeys } from '../../parts/table/row-keys.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { isOwn } from '../../state/reviewer.ts';
import { QueueDialogs } from './queue-dialogs.tsx';
import { sourceText } from './source.ts';

/** Each row asks for its progress. */
const PAGE_SIZE = 25;
/** Of the six connections that a browser has to one host. */
const gate = createGate(3);

type Row = { queue: ReviewQueueJson; whole: WholeReviewQueueJson | null; names: string[] };

function Actions({ queue: { id } }: Row) {
  const { set } = useAddress();
  return (
    <span class="row-actions">
      <button type="button" onClick={() => set({ queue: id, do: 'rename' })}>
        Rename
      </button>
      <button type="button" class="danger" onClick={() => set({ queue: id, do: 'archive' })}>
        Archive
      </button>
    </span>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'name',
    title: 'Name',
    cell: ({ queue: { id, name } }) => (
      <a class={`${ROW_LINK} break`} href={`/review/${encodeURIComponent(id)}`}>
        <Hostile text={name} />
      </a>
    ),
  },
  {
    name: 'done',
    title: 'Done',
    isNumber: true,
    cell: ({ whole }) =>
      whole === null ? '…' : `${count(whole.progress.done)} of ${count(whole.progress.items)}`,
  },
  {
    name: 'left',
    title: 'Left',
    isNumber: true,
    cell: ({ whole }) => (whole === null ? '…' : count(whole.progress.items - whole.progress.done)),
  },
  {
    name: 'own',
    title: 'By you',
    isNumber: true,
    cell: ({ whole }) => (whole === null ? '…' : count(whole.progress.people.find(isOwn)?.graded ?? 0)),
  },
  {
    name: 'criteria',
    title: 'Criteria',
    cell: ({ names }) => (
      <span class="chips">
        {names.map((name) => (
          <span key={name} class="chip">
            <Hostile text={name} />
          </span>
        ))}
      </span>
    ),
  },
  {
    name: 'source',
    title: 'Filled with',
    cell: ({ queue: { source } }) => (
      <span class="break">
        <Hostile text={sourceText(source)} />
      </span>
    ),
  },
  { name: 'per_item', title: 'People an item', isNumber: true, cell: ({ queue }) => count(queue.per_item) },
  { name: 'created', title: 'Made', cell: ({ queue }) => <Moment at={queue.created_at} /> },
];
const CHANGES: Column<Row> = { name: 'changes', title: 'Changes', cell: (row) => <Actions {...row} /> };

const EMPTY = (
  <>
    <h2>No review queue yet</h2>
    <p>
      A queue hands out logged requests that people are to grade: those of a filter, a sample, or those where
      an evaluator and people disagree.
    </p>
  </>
);

function rowsOf(
  queues: readonly ReviewQueueJson[],
  wholes: readonly WholeReviewQueueJson[] | null,
  criteria: readonly CriterionJson[] | null,
): Row[] {
  return queues.map((queue) => ({
    queue,
    whole: wholes?.find(({ id }) => id === queue.id) ?? null,
    names: queue.criterion_ids.flatMap((id) => criteria?.find((one) => one.id === id)?.name ?? []),
  }));
}

/** Shows the queues that are not archived, the newest first. */
export function Queues() {
  const { set } = useAddress();
  const [most, setMost] = useState(PAGE_SIZE);
  const box = useRowKeys('Review queues', 'queue');
  const { data, failure, isLoading, reload } = useResource('review queues', (signal) =>
    call<ReviewQueueJson[]>('POST', '/v1/review-queue/query', {}, signal),
  );
  const criteria = useCriteria();
  const shown = (data ?? []).slice(0, most);
  const ids = shown.map(({ id }) => id);
  const wholes = useResource(ids.length === 0 ? null : `progress ${ids.join()}`, (signal) =>
    Promise.all(
      ids.map((id) =>
        gate(() => call<WholeReviewQueueJson>('GET', `/v1/review-queue/${id}`, undefined, signal), signal),
      ),
    ),
  );
  const rest = (data?.length ?? 0) - shown.length;
  return (
    <>
      {may('write') && (
        <p>
          <button type="button" class="primary" onClick={() => set({ do: 'new' })}>
            New queue
          </button>
        </p>
      )}
      <FailureNotice
        failure={failure ?? criteria.failure}
        retry={failure === null ? criteria.reload : reload}
      />
      <FailureNotice failure={wholes.failure} retry={wholes.reload} />
      {data === null && failure === null && <p class="muted">Loading queues…</p>}
      <div ref={box}>
        {data !== null && (
          <Table
            caption="Review queues"
            columns={may('write') ? [...COLUMNS, CHANGES] : COLUMNS}
            rows={rowsOf(shown, wholes.data, criteria.data)}
            keyOf={({ queue }) => queue.id}
            isLoading={isLoading}
            empty={EMPTY}
          />
        )}
      </div>
      <MoreButton more={rest > 0 ? () => setMost(most + PAGE_SIZE) : null} />
      {may('write') && <QueueDialogs queues={data ?? []} criteria={criteria.data} onChanged={reload} />}
    </>
  );
}
