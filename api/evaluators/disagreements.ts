/** Requests of which people say another thing than an evaluator, or than each other. */
import { AssayError } from '#core/contracts/errors.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { type Basis, findBasis, gradePasses } from './basis.ts';
import type { Version } from './distribution.ts';
import { requireEvaluator } from './rules.ts';
import { findVersion } from './stats-statements.ts';
import { passThreshold } from './threshold.ts';

/** Selects what each person says of a request: by the tied criterion, else by rating it. */
function verdictsOfPeople(tx: TransactionSql, { organizationId }: Version, basis: Basis) {
  if (basis.kind === 'feedback')
    return tx`
      select created_at, request_id, feedback_rating as good from assay.requests
      where organization_id = ${organizationId} and feedback_rating is not null`;
  return tx`
    select g.created_at, g.request_id, ${gradePasses(tx, basis.passing)} as good from assay.grades g
    where g.organization_id = ${organizationId} and g.criterion_id = ${basis.criterionId}`;
}

/** Which ones: by the criteria of which people may differ; with a seed drawn by a hash of it, else the newest. */
type WantedDisagreements = { criterionIds: readonly string[]; seed: number | null; limit: number };

/**
 * Finds requests of which a person says another thing than the evaluator's current version, or of which two people say
 * different things by one of the criteria.
 * @throws AssayError not_found
 */
export async function findDisagreements(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
  { criterionIds, seed, limit }: WantedDisagreements,
): Promise<{ created_at: Date; request_id: string }[]> {
  const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
  const version = await findVersion(tx, evaluator, evaluator.version);
  if (version === undefined)
    throw new AssayError('internal_error', 'An evaluator has no version', { detail: evaluatorId });
  const basis = await findBasis(tx, organizationId, evaluatorId);
  const threshold = passThreshold(version);
  const order =
    seed === null
      ? tx`d.created_at desc, d.request_id desc`
      : tx`sha256(convert_to(${String(seed)} || ' ' || d.request_id, 'UTF8'))`;
  // An evaluation may outlive its request for a moment.
  return tx<{ created_at: Date; request_id: string }[]>`
    select d.created_at, d.request_id
    from (
      select e.created_at, e.request_id
      from assay.evaluations e
      join (${verdictsOfPeople(tx, version, basis)}) v on v.created_at = e.created_at and v.request_id = e.request_id
      where e.organization_id = ${organizationId} and e.evaluator_id = ${evaluatorId} and e.version = ${version.version}
        and e.probe = '' and e.state = 'completed' and v.good <> (e.score >= ${threshold}::float8)
      union
      select g.created_at, g.request_id from assay.grades g
      where g.organization_id = ${organizationId} and g.criterion_id = any(${[...criterionIds]}::uuid[])
      group by g.created_at, g.request_id, g.criterion_id having min(g.value) <> max(g.value)) d
    where exists (
      select from assay.requests r
      where r.organization_id = ${organizationId} and r.created_at = d.created_at and r.request_id = d.request_id)
    order by ${order} limit ${limit}`;
}
