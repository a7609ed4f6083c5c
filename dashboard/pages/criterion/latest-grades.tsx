/** The grades by a criterion, those that were first given last first. */
import type { GradeJson, GradePageJson, GradeQueryBody } from '#core/contracts/grade.ts';
import { call } from '../../client/call.ts';
import { useKeyNames } from '../../client/key-names.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { valueText } from '../../parts/grades/values.ts';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { usePages } from '../../parts/table/use-pages.ts';
import { Hostile } from '../../parts/text/hostile.tsx';

type Row = GradeJson & { keyName: string | null };

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'request',
    title: 'Request',
    cell: ({ request_id: id }) => (
      <a href={`/requests/${encodeURIComponent(id)}?tab=grades`}>
        <code>{id}</code>
      </a>
    ),
  },
  {
    name: 'value',
    title: 'Grade',
    cell: ({ value }) => (
      <span class="break">
        <Hostile text={valueText(value)} />
      </span>
    ),
  },
  {
    name: 'person',
    title: 'Person',
    cell: ({ author, key_id, keyName }) => (
      <span class="break">
        <Hostile text={author ?? keyName ?? `Key ${key_id}`} />
      </span>
    ),
  },
  {
    name: 'comment',
    title: 'Comment',
    cell: ({ comment }) => (
      <span class="break clamped">
        <Hostile text={comment ?? ''} />
      </span>
    ),
  },
  { name: 'at', title: 'When', cell: ({ graded_at }) => <Moment at={graded_at} /> },
];

/** Lists them, page by page. */
export function LatestGrades({ criterionId }: { criterionId: string }) {
  const { rows, failure, isLoading, reload, more } = usePages<GradeJson>(
    `grades by ${criterionId}`,
    async (after, signal) => {
      const query: GradeQueryBody = { criterionId, ...(after !== null && { after }) };
      const { grades, next } = await call<GradePageJson>('POST', '/v1/grade/query', query, signal);
      return { rows: grades, next };
    },
  );
  const names = useKeyNames(rows.map(({ author, key_id }) => (author === null ? key_id : null)));
  return (
    <section class="criterion-grades" aria-label="Grades">
      <h2>Grades</h2>
      <FailureNotice failure={failure} retry={reload} />
      <Table
        caption="Grades by this criterion"
        columns={COLUMNS}
        rows={rows.map((row) => ({ ...row, keyName: names.get(row.key_id) ?? null }))}
        keyOf={({ id }) => id}
        isLoading={isLoading}
        empty="Nobody has graded by it."
      />
      <MoreButton more={more} />
    </section>
  );
}
