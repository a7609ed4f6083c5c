/** The statements of prompts, each within one organization: `tx` is of the role `assay_api`. */
import { containing } from '#core/filter/mod.ts';
import { lockName, type TransactionSql } from '#platform/postgres/mod.ts';

export type PromptRow = { prompt_id: string; name: string; tags: string[]; created_at: Date };

/**
 * Locks the names of an organization's prompts until the transaction ends. Writers of names follow one another, so that names
 * are unique and the number of prompts is bounded without a failed insert.
 */
export async function lockNames(tx: TransactionSql, organizationId: string): Promise<void> {
  await lockName(tx, `prompts ${organizationId}`);
}

/**
 * Locks a prompt that is not deleted until the transaction ends; returns whether there is one. Everything that changes a
 * prompt, its versions or its environments does so first, so that such changes follow one another.
 */
export async function lockPrompt(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
): Promise<boolean> {
  const found = await tx`
    select 1 from assay.prompts
    where organization_id = ${organizationId} and prompt_id = ${promptId} and deleted_at is null
    for update`;
  return found.length === 1;
}

/** Finds a prompt that is not deleted. */
export async function findPrompt(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
): Promise<PromptRow | undefined> {
  const [row] = await tx<PromptRow[]>`
    select prompt_id, name, tags, created_at from assay.prompts
    where organization_id = ${organizationId} and prompt_id = ${promptId} and deleted_at is null`;
  return row;
}

/** Finds the id of the prompt with this name. */
export async function findNamed(
  tx: TransactionSql,
  organizationId: string,
  name: string,
): Promise<string | undefined> {
  const [row] = await tx<{ prompt_id: string }[]>`
    select prompt_id from assay.prompts
    where organization_id = ${organizationId} and name = ${name} and deleted_at is null`;
  return row?.prompt_id;
}

export async function countPrompts(tx: TransactionSql, organizationId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.prompts
    where organization_id = ${organizationId} and deleted_at is null`;
  return row!.count;
}

export async function insertPrompt(
  tx: TransactionSql,
  prompt: { organizationId: string; promptId: string; name: string; tags: string[]; at: Date },
): Promise<void> {
  const { organizationId, promptId, name, tags, at } = prompt;
  await tx`
    insert into assay.prompts (prompt_id, organization_id, name, tags, created_at)
    values (${promptId}, ${organizationId}, ${name}, ${tags}::text[], ${at})`;
}

export async function renamePrompt(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
  name: string,
): Promise<void> {
  await tx`
    update assay.prompts set name = ${name}
    where organization_id = ${organizationId} and prompt_id = ${promptId}`;
}

/** Sets the tags of a prompt that is not deleted; returns whether there is one. */
export async function updateTags(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
  tags: string[],
): Promise<boolean> {
  const updated = await tx`
    update assay.prompts set tags = ${tags}::text[]
    where organization_id = ${organizationId} and prompt_id = ${promptId} and deleted_at is null
    returning 1`;
  return updated.length === 1;
}

/** Lists a page of prompts, the newest first. */
export async function listPrompts(
  tx: TransactionSql,
  organizationId: string,
  query: { search: string; tags: string[]; page: number; pageSize: number },
): Promise<PromptRow[]> {
  const { search, tags, page, pageSize } = query;
  // Names have the collation "C", which folds the case of ASCII letters only; the database's own folds all letters.
  return tx<PromptRow[]>`
    select prompt_id, name, tags, created_at from assay.prompts
    where organization_id = ${organizationId} and deleted_at is null
      and (${search} = '' or name collate "default" ilike ${containing(search)})
      and (cardinality(${tags}::text[]) = 0 or tags && ${tags}::text[])
    order by created_at desc, prompt_id desc
    limit ${pageSize}::int8 offset ${page}::int8 * ${pageSize}::int8`;
}

/** Lists the tags of all prompts, each once, in order. */
export async function listTags(tx: TransactionSql, organizationId: string): Promise<string[]> {
  const rows = await tx<{ tag: string }[]>`
    select distinct unnest(tags) collate "C" as tag from assay.prompts
    where organization_id = ${organizationId} and deleted_at is null order by tag`;
  return rows.map(({ tag }) => tag);
}

/** Deletes a prompt with its environments and the contents of its versions. The numbers of versions stay. */
export async function deletePrompt(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
  at: Date,
): Promise<void> {
  await tx`
    delete from assay.prompt_environments
    where organization_id = ${organizationId} and prompt_id = ${promptId}`;
  await tx`
    update assay.prompt_versions
    set deleted_at = ${at}, body = '{}', model = null, variables = '[]', commit_message = ''
    where organization_id = ${organizationId} and prompt_id = ${promptId} and deleted_at is null`;
  await tx`
    update assay.prompts set deleted_at = ${at}
    where organization_id = ${organizationId} and prompt_id = ${promptId}`;
}
