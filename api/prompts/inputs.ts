/** Finds the inputs that a logged request filled a version's variables with. */
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { awaitRequest, findKey } from '../requests/mod.ts';
import { type Context, requireVersion } from './context.ts';
import { numberOf } from './version-json.ts';
import type { VersionRow } from './version-store.ts';

/** The ids of a version and of a request that used it. */
export type RequestOfVersion = { promptId: string; versionId: string; requestId: string };

type UseRow = { inputs: string; is_of_version: boolean };

/** Finds a request, and whether it used this version: records name a version by its id or by its number. */
async function findUse(
  tx: TransactionSql,
  organizationId: string,
  version: VersionRow,
  requestId: string,
): Promise<UseRow | undefined> {
  const key = await findKey(tx, organizationId, requestId);
  if (key === null) return undefined;
  const names = [version.version_id, numberOf(version)];
  const [row] = await tx<UseRow[]>`
    select coalesce(inputs::text, '{}') as inputs,
      coalesce(prompt_id = ${version.prompt_id} and prompt_version = any(${names}::text[]), false) as is_of_version
    from assay.requests
    where organization_id = ${organizationId} and created_at = ${key.created_at} and request_id = ${requestId}`;
  return row;
}

/**
 * Makes the function that returns the inputs of a request as JSON text.
 * @throws AssayError not_found when there is no such version or request, and when the request did not use the version
 */
export function createInputs({
  sql,
  clock,
}: Context): (organizationId: string, ids: RequestOfVersion) => Promise<string> {
  return async (organizationId, { promptId, versionId, requestId }) => {
    const version = await inOrganization(sql, organizationId, (tx) =>
      requireVersion(tx, organizationId, promptId, versionId),
    );
    const use = await awaitRequest(requestId, { sql, clock, organizationId }, async () => {
      const found = await inOrganization(sql, organizationId, (tx) =>
        findUse(tx, organizationId, version, storableText(requestId)),
      );
      return found ?? null;
    });
    if (use.is_of_version) {
      const ids = JSON.stringify({ request_id: requestId, version_id: versionId });
      return `${ids.slice(0, -1)},"inputs":${use.inputs}}`;
    }
    throw new AssayError(
      'not_found',
      `The request ${quoteValue(requestId)} did not use version ${numberOf(version)} of the prompt ${promptId}`,
    );
  };
}
