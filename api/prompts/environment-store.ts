/** The statements of environments, each within one organization: `tx` is of the role `assay_api`. */
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** Lists the environments of one prompt, in order. */
export async function listEnvironmentsOfPrompt(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
): Promise<string[]> {
  const rows = await tx<{ environment: string }[]>`
    select environment from assay.prompt_environments
    where organization_id = ${organizationId} and prompt_id = ${promptId} order by environment`;
  return rows.map(({ environment }) => environment);
}

/** Lists the environments of all prompts, each once, in order. */
export async function listEnvironments(tx: TransactionSql, organizationId: string): Promise<string[]> {
  const rows = await tx<{ environment: string }[]>`
    select distinct environment from assay.prompt_environments
    where organization_id = ${organizationId} order by environment`;
  return rows.map(({ environment }) => environment);
}

/** Has an environment name a version, in place of another one. The caller has locked the prompt. */
export async function upsertEnvironment(
  tx: TransactionSql,
  organizationId: string,
  named: { promptId: string; versionId: string; environment: string; at: Date },
): Promise<void> {
  const { promptId, versionId, environment, at } = named;
  await tx`
    insert into assay.prompt_environments (prompt_id, environment, organization_id, version_id, updated_at)
    values (${promptId}, ${environment}, ${organizationId}, ${versionId}, ${at})
    on conflict (prompt_id, environment) do update set version_id = excluded.version_id, updated_at = excluded.updated_at`;
}

/** Removes an environment if it names this version; returns whether it did. */
export async function deleteEnvironment(
  tx: TransactionSql,
  organizationId: string,
  named: { promptId: string; versionId: string; environment: string },
): Promise<boolean> {
  const deleted = await tx`
    delete from assay.prompt_environments
    where organization_id = ${organizationId} and prompt_id = ${named.promptId}
      and environment = ${named.environment} and version_id = ${named.versionId}
    returning 1`;
  return deleted.length === 1;
}
