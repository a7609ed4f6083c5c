/** The measure of an evaluator's verdicts: people's grades by the criterion that is tied to it, else their ratings. */
import { type Kind, type Passing, passingOf } from '#core/grades/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

export type Basis =
  | { kind: 'criterion'; criterionId: string; passing: Passing }
  /** `note`: why the grades of the tied criterion are not used; null where none is tied. */
  | { kind: 'feedback'; note: string | null };

const NO_SCORES =
  'The criterion that is tied to this evaluator has labels without scores, so its grades mean neither good nor bad: ratings are used';

/** Finds the basis of an evaluator. */
export async function findBasis(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
): Promise<Basis> {
  const [row] = await tx<{ criterion_id: string; kind: Kind }[]>`
    select criterion_id, kind from assay.criteria
    where organization_id = ${organizationId} and evaluator_id = ${evaluatorId} and archived_at is null`;
  if (row === undefined) return { kind: 'feedback', note: null };
  const passing = passingOf(row.kind);
  if (passing === null) return { kind: 'feedback', note: NO_SCORES };
  return { kind: 'criterion', criterionId: row.criterion_id, passing };
}

/** Writes whether a grade `g` means good. */
export function gradePasses(tx: TransactionSql, passing: Passing) {
  if ('from' in passing) return tx`g.value >= ${passing.from}::float8`;
  return tx`g.value = any(${passing.labels.map(String)}::text[]::float8[])`;
}
