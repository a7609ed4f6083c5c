/** The parts that the work on prompts needs, and the look-ups that it shares. */
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { ApiKey } from '#platform/keys/mod.ts';
import { inOrganization, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { readUuid, unknown } from '../ids.ts';
import { findPrompt, lockPrompt } from './prompt-store.ts';
import { findVersionOfPrompt, type VersionRow } from './version-store.ts';

export type Context = {
  /** A pool under the role `assay_api`. */
  sql: Sql;
  clock: Clock;
};

/** The API key that a prompt or a version is made with. */
export type Author = Pick<ApiKey, 'keyId' | 'organizationId'>;

/** The ids of a version in a body or a path. */
export type VersionIds = { promptId: string; promptVersionId: string };

/** @throws AssayError not_found when the text cannot be an id */
export function readPromptId(id: string): string {
  return readUuid('prompt', id);
}

/** @throws AssayError not_found when the text cannot be an id */
export function readVersionId(id: string): string {
  return readUuid('prompt version', id);
}

/** @throws AssayError not_found */
export async function requirePrompt(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
): Promise<void> {
  if ((await findPrompt(tx, organizationId, promptId)) === undefined) throw unknown('prompt', promptId);
}

/**
 * Locks a prompt until the transaction ends.
 * @throws AssayError not_found
 */
export async function requireLocked(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
): Promise<void> {
  if (!(await lockPrompt(tx, organizationId, promptId))) throw unknown('prompt', promptId);
}

/**
 * Finds a version of a prompt.
 * @throws AssayError not_found
 */
export async function requireVersion(
  tx: TransactionSql,
  organizationId: string,
  promptId: string,
  versionId: string,
): Promise<VersionRow> {
  const row = await findVersionOfPrompt(tx, organizationId, promptId, versionId);
  if (row !== undefined) return row;
  throw new AssayError(
    'not_found',
    `The prompt ${promptId} has no version with the id ${quoteValue(versionId)}`,
  );
}

/**
 * Runs `work` in a transaction, once the prompt is locked and the version is known to be one of its own.
 * @throws AssayError not_found
 */
export function withVersion<T>(
  sql: Sql,
  organizationId: string,
  ids: VersionIds,
  work: (tx: TransactionSql, row: VersionRow) => Promise<T>,
): Promise<T> {
  const promptId = readPromptId(ids.promptId);
  const versionId = readVersionId(ids.promptVersionId);
  return inOrganization(sql, organizationId, async (tx) => {
    await requireLocked(tx, organizationId, promptId);
    return work(tx, await requireVersion(tx, organizationId, promptId, versionId));
  });
}
