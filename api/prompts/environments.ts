/** Has environments of a prompt name its versions. */
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { MAX_ENVIRONMENTS, type VersionEnvironmentBody } from '#core/contracts/prompt.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { type Context, readPromptId, requirePrompt, withVersion } from './context.ts';
import {
  deleteEnvironment,
  listEnvironments,
  listEnvironmentsOfPrompt,
  upsertEnvironment,
} from './environment-store.ts';
import { numberOf, type VersionTexts, versionTexts } from './version-json.ts';
import { findVersionOfEnvironment } from './version-store.ts';

/** The work on environments, for one organization at a time. Whatever is unknown or deleted is a not_found. */
export type Environments = {
  /** Lists the environments of all prompts, each once. */
  list(organizationId: string): Promise<string[]>;
  /** Finds the version that an environment of a prompt names. */
  versionOf(organizationId: string, promptId: string, environment: string): Promise<VersionTexts>;
  /** @throws AssayError conflict when the prompt has as many environments as it may have */
  set(organizationId: string, body: VersionEnvironmentBody): Promise<null>;
  /** @throws AssayError not_found, too, when the environment names another version */
  remove(organizationId: string, body: VersionEnvironmentBody): Promise<null>;
};

/**
 * Has an environment name a version of a prompt that the caller has locked.
 * @throws AssayError conflict
 */
export async function nameVersion(
  tx: TransactionSql,
  organizationId: string,
  named: { promptId: string; versionId: string; environment: string; at: Date },
): Promise<void> {
  const present = await listEnvironmentsOfPrompt(tx, organizationId, named.promptId);
  if (!present.includes(named.environment) && present.length >= MAX_ENVIRONMENTS) {
    throw new AssayError('conflict', `A prompt can have at most ${MAX_ENVIRONMENTS} environments`);
  }
  await upsertEnvironment(tx, organizationId, named);
}

/** Returns the failure for an environment that a prompt does not have; it lists those that it has. */
async function unknownEnvironment(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
  environment: string,
): Promise<AssayError> {
  const present = await listEnvironmentsOfPrompt(tx, organizationId, promptId);
  const others = present.length === 0 ? 'none' : present.map(quoteValue).join(', ');
  return new AssayError(
    'not_found',
    `The prompt ${promptId} has no environment ${quoteValue(environment)}; it has ${others}`,
  );
}

export function createEnvironments({ sql, clock }: Context): Environments {
  return {
    list: (organizationId) =>
      inOrganization(sql, organizationId, (tx) => listEnvironments(tx, organizationId)),

    async versionOf(organizationId, given, environment) {
      const promptId = readPromptId(given);
      const name = storableText(environment);
      const row = await inOrganization(sql, organizationId, async (tx) => {
        const found = await findVersionOfEnvironment(tx, organizationId, promptId, name);
        if (found !== undefined) return found;
        await requirePrompt(tx, organizationId, promptId);
        throw await unknownEnvironment(tx, organizationId, promptId, name);
      });
      return versionTexts(row);
    },

    async set(organizationId, body) {
      await withVersion(sql, organizationId, body, (tx, { prompt_id, version_id }) =>
        nameVersion(tx, organizationId, {
          promptId: prompt_id,
          versionId: version_id,
          environment: storableText(body.environment),
          at: new Date(clock.now()),
        }),
      );
      return null;
    },

    async remove(organizationId, body) {
      await withVersion(sql, organizationId, body, async (tx, row) => {
        const environment = storableText(body.environment);
        const named = { promptId: row.prompt_id, versionId: row.version_id, environment };
        if (await deleteEnvironment(tx, organizationId, named)) return;
        throw new AssayError(
          'not_found',
          `Version ${numberOf(row)} is not that of the environment ${quoteValue(environment)}`,
        );
      });
      return null;
    },
  };
}
