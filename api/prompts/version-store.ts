/** The statements of versions, each within one organization: `tx` is of the role `assay_api`. */
import type { PromptVariableJson } from '#core/contracts/prompt.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

export type VersionRow = {
  version_id: string;
  prompt_id: string;
  major: number;
  minor: number;
  commit_message: string;
  model: string | null;
  /** JSON. */
  variables: string;
  created_at: Date;
  environments: string[];
};

/** A version with its body, as JSON. */
export type WholeVersionRow = VersionRow & { body: string };

export type VersionNumber = { major: number; minor: number };

const columns = (tx: TransactionSql) => tx`
  v.version_id, v.prompt_id, v.major, v.minor, v.commit_message, v.model, v.variables, v.created_at,
  array(
    select e.environment from assay.prompt_environments e
    where e.organization_id = v.organization_id and e.prompt_id = v.prompt_id and e.version_id = v.version_id
    order by e.environment
  ) as environments`;

/** Finds a version that is not deleted, of any prompt. */
export async function findVersion(
  tx: TransactionSql,
  organizationId: string,
  versionId: string,
): Promise<WholeVersionRow | undefined> {
  const [row] = await tx<WholeVersionRow[]>`
    select ${columns(tx)}, v.body from assay.prompt_versions v
    where v.organization_id = ${organizationId} and v.version_id = ${versionId} and v.deleted_at is null`;
  return row;
}

/** Finds the version that an environment of a prompt names. */
export async function findVersionOfEnvironment(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
  environment: string,
): Promise<WholeVersionRow | undefined> {
  const [row] = await tx<WholeVersionRow[]>`
    select ${columns(tx)}, v.body from assay.prompt_versions v
    where v.organization_id = ${organizationId} and v.prompt_id = ${promptId} and v.deleted_at is null
      and v.version_id = (
        select e.version_id from assay.prompt_environments e
        where e.organization_id = ${organizationId} and e.prompt_id = ${promptId} and e.environment = ${environment}
      )`;
  return row;
}

/** Finds the number and the environments of a prompt's version that is not deleted. */
export async function findVersionOfPrompt(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
  versionId: string,
): Promise<VersionRow | undefined> {
  const [row] = await tx<VersionRow[]>`
    select ${columns(tx)} from assay.prompt_versions v
    where v.organization_id = ${organizationId} and v.prompt_id = ${promptId} and v.version_id = ${versionId}
      and v.deleted_at is null`;
  return row;
}

/** Lists a page of a prompt's versions, the highest number first; of one major version unless `major` is null. */
export async function listVersions(
  tx: TransactionSql,
  organizationId: string,
  query: { promptId: string; major: number | null; offset: number; limit: number },
): Promise<VersionRow[]> {
  const { promptId, major, offset, limit } = query;
  return tx<VersionRow[]>`
    select ${columns(tx)} from assay.prompt_versions v
    where v.organization_id = ${organizationId} and v.prompt_id = ${promptId} and v.deleted_at is null
      and (${major}::int4 is null or v.major = ${major}::int4)
    order by v.major desc, v.minor desc
    limit ${limit}::int8 offset ${offset}::int8`;
}

/** Counts the versions of a prompt that are not deleted; `highest` is their highest major number, 0 when there are none. */
export async function countVersions(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
): Promise<{ count: number; highest: number }> {
  const [row] = await tx<{ count: number; highest: number }[]>`
    select count(*)::int4 as count, coalesce(max(major), 0) as highest from assay.prompt_versions
    where organization_id = ${organizationId} and prompt_id = ${promptId} and deleted_at is null`;
  return row!;
}

/** Takes the next major number of a prompt, which the caller has locked. */
export async function takeMajor(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
): Promise<VersionNumber> {
  const [row] = await tx<{ last_major: number }[]>`
    update assay.prompts set last_major = last_major + 1
    where organization_id = ${organizationId} and prompt_id = ${promptId}
    returning last_major`;
  return { major: row!.last_major, minor: 0 };
}

/** Returns the next minor number of a prompt, which the caller has locked. Deleted versions count. */
export async function nextMinor(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
  major: number,
): Promise<VersionNumber> {
  const [row] = await tx<{ next: number }[]>`
    select max(minor) + 1 as next from assay.prompt_versions
    where organization_id = ${organizationId} and prompt_id = ${promptId} and major = ${major}`;
  return { major, minor: row!.next };
}

export async function insertVersion(
  tx: TransactionSql,
  version: VersionNumber & {
    organizationId: string;
    promptId: string;
    versionId: string;
    commitMessage: string;
    body: string;
    model: string | null;
    variables: readonly PromptVariableJson[];
    keyId: string;
    at: Date;
  },
): Promise<void> {
  const { organizationId, promptId, versionId, major, minor, commitMessage, keyId, at } = version;
  await tx`
    insert into assay.prompt_versions
      (version_id, prompt_id, organization_id, major, minor, commit_message, body, model, variables, created_at, created_by)
    values
      (${versionId}, ${promptId}, ${organizationId}, ${major}, ${minor}, ${commitMessage}, ${version.body},
       ${version.model}, ${JSON.stringify(version.variables)}, ${at}, ${keyId})`;
}

/** Deletes a version with its contents. Its number stays. */
export async function deleteVersion(
  tx: TransactionSql,
  organizationId: string,
  versionId: string,
  at: Date,
): Promise<void> {
  await tx`
    update assay.prompt_versions
    set deleted_at = ${at}, body = '{}', model = null, variables = '[]', commit_message = ''
    where organization_id = ${organizationId} and version_id = ${versionId}`;
}
