import { MAX_LISTED_PEOPLE, type ProgressJson } from '#core/contracts/review.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { namesOf } from '../grades/mod.ts';
import { livingCriteria, type QueueRow } from './queue-store.ts';

type Totals = { items: number; done: number; skipped: number };
type PersonRow = { person: string; graded: number; skipped: number };

/** Selects who graded which item of a queue by all its criteria that are not archived. */
function graders(
  tx: TransactionSql,
  organizationId: string,
  { queue_id }: QueueRow,
  criterionIds: readonly string[],
) {
  return tx`
    select i.request_id, g.person
    from assay.review_items i
    join assay.grades g on g.organization_id = i.organization_id and g.request_id = i.request_id
    where i.organization_id = ${organizationId} and i.queue_id = ${queue_id}
      and g.criterion_id = any(${[...criterionIds]}::uuid[])
    group by i.request_id, g.person having count(*) = ${criterionIds.length}`;
}

/** Counts how far a queue is. */
export async function progressOf(
  tx: TransactionSql,
  organizationId: string,
  queue: QueueRow,
): Promise<ProgressJson> {
  const criterionIds = await livingCriteria(tx, organizationId, queue);
  const graded = graders(tx, organizationId, queue, criterionIds);
  const skips = tx`
    select s.request_id, s.person from assay.review_skips s
    where s.organization_id = ${organizationId} and s.queue_id = ${queue.queue_id}`;
  const [totals] = await tx<[Totals]>`
    with done as (select request_id from (${graded}) g group by request_id having count(*) >= ${queue.per_item})
    select
      (select count(*)::int4 from assay.review_items
        where organization_id = ${organizationId} and queue_id = ${queue.queue_id}) as items,
      (select count(*)::int4 from done) as done,
      (select count(distinct s.request_id)::int4 from (${skips}) s
        where s.request_id not in (select request_id from done)) as skipped`;
  const people = await tx<PersonRow[]>`
    select person, sum(graded)::int4 as graded, sum(skipped)::int4 as skipped
    from (
      select person, 1 as graded, 0 as skipped from (${graded}) g
      union all
      select person, 0, 1 from (${skips}) s) p
    group by person order by graded desc, person limit ${MAX_LISTED_PEOPLE}`;
  return {
    ...totals,
    people: people.map(({ person, ...counts }) => ({ ...namesOf(person), ...counts })),
  };
}
