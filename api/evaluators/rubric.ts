/** Finds the criteria of a rubric among an organization's evaluators. */
import { quoteValue } from '#core/contracts/check.ts';
import { type LlmTemplate, type RubricTemplate, readRubricTemplate } from '#core/contracts/evaluator.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import type { CriterionReference } from '#core/contracts/rubric.ts';
import { isJudgeType, JUDGE_TYPES, type Scope, type ScoringType } from '#core/evaluations/mod.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import { isUuid } from '#platform/process/ids.ts';

type Found = {
  name: string;
  scope: Scope;
  scoringType: ScoringType;
  version: number;
  template: LlmTemplate | null;
};

/**
 * Reads the template of a rubric, with each criterion in one version.
 * @throws AssayError invalid_body for a criterion that cannot be one
 */
export async function readRubric(
  sql: Sql,
  { organizationId, scope }: { organizationId: string; scope: Scope },
  value: unknown,
): Promise<LlmTemplate> {
  const template = readRubricTemplate(value, scope);
  const criteria = await inOrganization(sql, organizationId, async (tx) => {
    const found: CriterionReference[] = [];
    for (const [index, { id, version }] of template.criteria.entries()) {
      const at = `llm_template.criteria.${index}`;
      const [row] = isUuid(id)
        ? await tx<Found[]>`
            select e.name, e.scope, e.scoring_type as "scoringType", v.version, v.llm_template as template
              from assay.evaluators e
              join assay.evaluator_versions v on v.organization_id = e.organization_id and v.evaluator_id = e.evaluator_id
                                             and v.version = coalesce(${version ?? null}::int4, e.version)
             where e.organization_id = ${organizationId} and e.evaluator_id = ${id} and e.deleted_at is null`
        : [];
      if (row === undefined) {
        throw invalidField(`${at}.id`, `names ${quoteValue(id)}, and there is no such evaluator or version`);
      }
      refuseUnfit(row, scope, at);
      found.push({ id: id.toLowerCase(), version: row.version });
    }
    return found;
  });
  refuseTwins(criteria);
  return { ...template, criteria };
}

/** @throws AssayError invalid_body for an evaluator whose judge is sent more than a question about the answer */
function refuseUnfit({ name, scope: own, scoringType, template }: Found, scope: Scope, at: string): void {
  const unfit = (problem: string) => invalidField(at, `cannot be ${quoteValue(name)}, which ${problem}`);
  if (own !== scope) throw unfit(`scores each ${own}, and the rubric each ${scope}`);
  if (!isJudgeType(scoringType) || template === null) {
    throw unfit(`is of the type ${scoringType}: criteria are of ${JUDGE_TYPES.join(', ')}`);
  }
  if (template.prompt.includes('{{')) {
    throw unfit('has variables in its prompt: only the prompt of the rubric may have them');
  }
  if (template.examples !== undefined) throw unfit('has examples, which a rubric does not send');
  if (template.jury !== undefined) throw unfit('has a jury, and a rubric has one judge');
}

function refuseTwins(criteria: RubricTemplate['criteria']): void {
  const twin = criteria.findIndex(({ id }, index) => criteria.findIndex((one) => one.id === id) !== index);
  if (twin !== -1) {
    throw invalidField(`llm_template.criteria.${twin}.id`, `names ${quoteValue(criteria[twin]!.id)} again`);
  }
}
