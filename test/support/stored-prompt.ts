/** Stores prompts in the tables, as the management API does. */
import type { Sql } from '#platform/postgres/mod.ts';

export type StoredIds = { promptId: string; versionId: string };

/** A version to store: of a new prompt, unless `promptId` names one. */
export type NewVersion = {
  promptId?: string;
  /** Default: 1.0 */
  version?: [major: number, minor: number];
  /** A string is stored as it is. */
  body: unknown;
  /** Those that name this version. Default: production. */
  environments?: string[];
};

let names = 0;

export async function storePrompt(
  sql: Sql,
  organizationId: string,
  { promptId, version: [major, minor] = [1, 0], body, environments = ['production'] }: NewVersion,
): Promise<StoredIds> {
  names += 1;
  return await sql.begin(async (tx) => {
    const [prompt] =
      promptId === undefined
        ? await tx`
            insert into assay.prompts (organization_id, name) values (${organizationId}, ${`prompt ${names}`})
            returning prompt_id`
        : [{ prompt_id: promptId }];
    const [stored] = await tx`
      insert into assay.prompt_versions (prompt_id, organization_id, major, minor, body)
      values (${prompt!.prompt_id}, ${organizationId}, ${major}, ${minor},
        ${typeof body === 'string' ? body : JSON.stringify(body)})
      returning version_id`;
    for (const environment of environments) {
      await tx`
        insert into assay.prompt_environments (prompt_id, environment, organization_id, version_id)
        values (${prompt!.prompt_id}, ${environment}, ${organizationId}, ${stored!.version_id})
        on conflict (prompt_id, environment) do update set version_id = excluded.version_id`;
    }
    return { promptId: prompt!.prompt_id as string, versionId: stored!.version_id as string };
  });
}
