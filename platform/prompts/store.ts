import type { Sql } from '../postgres/mod.ts';

/** A version of a prompt as a call names it: by its id, or by an environment. */
export type PromptReference = {
  readonly organizationId: string;
  /** A UUID in lower case, as are version ids. */
  readonly promptId: string;
} & ({ readonly versionId: string } | { readonly environment: string });

/** A version as it is stored. */
export type VersionRow = { major: number; minor: number; body: string };

/** Returns the version that is named; null when the organization has none such, or it is deleted. */
export async function findPromptVersion(sql: Sql, reference: PromptReference): Promise<VersionRow | null> {
  const { organizationId, promptId } = reference;
  const isNamed =
    'versionId' in reference
      ? sql`v.version_id = ${reference.versionId}`
      : sql`v.version_id = (
          select e.version_id from assay.prompt_environments e
          where e.prompt_id = p.prompt_id and e.environment = ${reference.environment})`;
  const [row] = await sql<VersionRow[]>`
    select v.major, v.minor, v.body
    from assay.prompts p join assay.prompt_versions v using (prompt_id)
    where p.organization_id = ${organizationId} and p.prompt_id = ${promptId} and ${isNamed}
      and p.deleted_at is null and v.deleted_at is null`;
  return row ?? null;
}
