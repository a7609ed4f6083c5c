/** The versions of an evaluator: what it was at a time, never changed. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Timestamp } from '#core/contracts/shapes.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import type { Context } from './context.ts';
import { TemplateShapes, type Templates, ThresholdShape } from './evaluator-json.ts';
import { requireEvaluator } from './rules.ts';

const MAX_VERSIONS = 100;

export const VersionsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|100)$',
        rule: `must be a whole number from 1 to ${MAX_VERSIONS}`,
        description: `Default: ${MAX_VERSIONS}`,
      }),
    ),
    offset: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,9}$',
        rule: 'must be a whole number from 0',
        description: 'Versions to skip',
      }),
    ),
  },
  closed,
);
export type VersionsQuery = Static<typeof VersionsQuery>;

export const VersionJson = Type.Object(
  {
    version: Type.Integer(),
    is_current: Type.Boolean(),
    ...TemplateShapes,
    threshold: ThresholdShape,
    created_at: Timestamp,
  },
  { ...closed, $id: 'EvaluatorVersion' },
);
export type VersionJson = Static<typeof VersionJson>;

/** Lists the versions of an evaluator, the newest first. */
export type Versions = (
  organizationId: string,
  evaluatorId: string,
  query: VersionsQuery,
) => Promise<VersionJson[]>;

export function createVersions({ sql }: Pick<Context, 'sql'>): Versions {
  return async (organizationId, evaluatorId, { limit = String(MAX_VERSIONS), offset = '0' }) =>
    inOrganization(sql, organizationId, async (tx) => {
      const { version: current } = await requireEvaluator(tx, organizationId, evaluatorId);
      const rows = await tx<
        (Templates & Pick<VersionJson, 'version' | 'threshold'> & { created_at: Date })[]
      >`
        select version, llm_template, code_template, external_config, threshold, created_at from assay.evaluator_versions
        where organization_id = ${organizationId} and evaluator_id = ${evaluatorId}
        order by version desc limit ${Number(limit)} offset ${Number(offset)}`;
      return rows.map(({ version, llm_template, code_template, external_config, threshold, created_at }) => ({
        version,
        is_current: version === current,
        llm_template,
        code_template,
        external_config,
        threshold,
        created_at: created_at.toISOString(),
      }));
    });
}
