/** The evaluators of experiments. */
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { Scope, ScoringType } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { refusePairwise } from '../evaluators/mod.ts';
import { readUuid, unknown } from '../ids.ts';

/** An evaluator in the version that grades. */
export type Grader = {
  id: string;
  name: string;
  version: number;
  scoringType: ScoringType;
  adapter: string | null;
};

/**
 * Finds evaluators in their newest versions, in the order of the ids.
 * @throws AssayError not_found, and the refusal of one that judges pairs
 */
export async function findGraders(
  tx: TransactionSql,
  organizationId: string,
  evaluatorIds: readonly string[],
): Promise<Grader[]> {
  const ids = [...new Set(evaluatorIds.map((id) => readUuid('evaluator', id)))];
  const rows = await tx<(Grader & { scope: Scope })[]>`
    select e.evaluator_id as id, e.name, e.version, e.scope, e.scoring_type as "scoringType", v.external_config ->> 'adapter' as adapter
      from assay.evaluators e
      join assay.evaluator_versions v on v.evaluator_id = e.evaluator_id and v.version = e.version
     where e.organization_id = ${organizationId} and e.evaluator_id = any(${ids}::uuid[]) and e.deleted_at is null`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const found = byId.get(id);
    if (found === undefined) throw unknown('evaluator', id);
    refusePairwise(found.scoringType);
    if (found.scope === 'session') throw gradesSessions(found.name);
    return found;
  });
}

function gradesSessions(name: string): AssayError {
  return new AssayError(
    'invalid_body',
    `The evaluator ${quoteValue(name)} scores whole sessions, and the answers of an experiment belong to none`,
  );
}

/** Returns the evaluators of an experiment that still exist, in the versions that it grades by. */
export async function gradersOf(tx: TransactionSql, experimentId: string): Promise<Grader[]> {
  return await tx<Grader[]>`
    select e.evaluator_id as id, e.name, v.version, e.scoring_type as "scoringType", v.external_config ->> 'adapter' as adapter
      from assay.experiments x
     cross join lateral jsonb_to_recordset(x.evaluators) as used (id uuid, version int4)
      join assay.evaluators e on e.evaluator_id = used.id and e.organization_id = x.organization_id and e.deleted_at is null
      join assay.evaluator_versions v on v.evaluator_id = e.evaluator_id and v.version = used.version
     where x.experiment_id = ${experimentId}`;
}
