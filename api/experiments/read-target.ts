/** Reads targets of experiments. */
import { AssayError } from '#core/contracts/errors.ts';
import type { Target } from '#core/contracts/experiment.ts';
import { PRODUCTION } from '#core/contracts/prompt.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { readUuid, unknown } from '../ids.ts';

type PromptTarget = Extract<Target, { kind: 'prompt' }>;

/**
 * Returns a target as it is stored. A prompt's is fixed to one version, with its model, so that an environment that is set to
 * another version meanwhile changes no answers, and calls have a price beforehand.
 * @throws AssayError invalid_body, not_found
 */
export async function readTarget(
  tx: TransactionSql,
  organizationId: string,
  target: Target,
): Promise<Target> {
  return target.kind === 'prompt' ? await fixVersion(tx, organizationId, target) : target;
}

async function fixVersion(tx: TransactionSql, organizationId: string, target: PromptTarget): Promise<Target> {
  if (target.versionId !== undefined && target.environment !== undefined)
    throw new AssayError(
      'invalid_body',
      'target.versionId and target.environment exclude each other: send one of them',
    );
  const promptId = readUuid('prompt', target.promptId);
  const wanted = target.versionId === undefined ? null : readUuid('version', target.versionId);
  const environment = wanted === null ? (target.environment ?? PRODUCTION) : null;
  const [prompt] = await tx<{ id: string | null; model: string | null }[]>`
    select v.version_id as id, v.model from assay.prompts p
      left join assay.prompt_versions v on v.prompt_id = p.prompt_id and v.deleted_at is null
       and v.version_id = coalesce(${wanted}::uuid, (
             select e.version_id from assay.prompt_environments e
              where e.prompt_id = p.prompt_id and e.environment = ${environment}))
     where p.organization_id = ${organizationId} and p.prompt_id = ${promptId} and p.deleted_at is null`;
  if (prompt === undefined) throw unknown('prompt', target.promptId);
  if (prompt.id === null) {
    if (target.versionId !== undefined) throw unknown('version', target.versionId);
    throw new AssayError('not_found', `The prompt has no version in the environment ${environment}`);
  }
  const model = target.model ?? prompt.model;
  return {
    kind: 'prompt',
    promptId,
    versionId: prompt.id,
    ...(environment !== null && { environment }),
    ...(model !== null && { model }),
  };
}
