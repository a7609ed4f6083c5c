import type { CodeTemplate, LlmTemplate } from '#core/contracts/evaluator.ts';
import type { ExternalConfig } from '#core/contracts/external.ts';
import type { ScoringType } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { requireEvaluator } from './rules.ts';
import { findVersion } from './stats-statements.ts';
import { boundsOf } from './threshold.ts';

/**
 * Returns the lowest and the highest score that a version of an evaluator can give; null: they are not known.
 * @throws AssayError not_found
 */
export async function findScoreRange(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
  version: number,
): Promise<{ low: number; high: number } | null> {
  const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
  const found = await findVersion(tx, evaluator, version);
  return found === undefined ? null : boundsOf(found);
}

/**
 * Returns the same of several versions by the id of their evaluator, also of those that were deleted since.
 * @param used each evaluator once
 */
export async function findScoreRanges(
  tx: TransactionSql,
  organizationId: string,
  used: readonly { id: string; version: number }[],
): Promise<Map<string, { low: number; high: number } | null>> {
  const rows = await tx<
    {
      id: string;
      scoringType: ScoringType;
      llmTemplate: LlmTemplate | null;
      codeTemplate: CodeTemplate | null;
      externalConfig: ExternalConfig | null;
    }[]
  >`
    select e.evaluator_id as id, e.scoring_type as "scoringType", v.llm_template as "llmTemplate",
           v.code_template as "codeTemplate", v.external_config as "externalConfig"
      from unnest(${used.map(({ id }) => id)}::uuid[], ${used.map(({ version }) => version)}::int4[]) as used (id, version)
      join assay.evaluators e on e.organization_id = ${organizationId} and e.evaluator_id = used.id
      join assay.evaluator_versions v
        on v.organization_id = e.organization_id and v.evaluator_id = e.evaluator_id and v.version = used.version`;
  return new Map(rows.map((row) => [row.id, boundsOf(row)]));
}
