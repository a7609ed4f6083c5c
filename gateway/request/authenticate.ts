/** Who makes a call: found by its key, or by the signature of an evaluator of ours. */
import { AssayError } from '#core/contracts/errors.ts';
import { bearerToken } from '#platform/http-server/mod.ts';
import type { KeyDirectory } from '#platform/keys/mod.ts';
import { EVALUATION_PROPERTY, type InternalCall } from '#platform/secrets/mod.ts';
import type { Caller } from './call.ts';
import type { CallHeaders } from './headers.ts';

export type AuthenticateDependencies = {
  keys: Pick<KeyDirectory, 'find' | 'providerKeysOf'>;
  /** The evaluation that a header says a call is made for; null when it is not signed by an evaluator of ours. */
  readInternalCall(header: string): InternalCall | null;
};

/**
 * Finds the caller. Of a call whose key is in `Service-Auth`, the other headers carry the caller's own provider key.
 * @throws AssayError invalid_api_key, missing_scope or store_unavailable
 */
export async function authenticate(
  headers: CallHeaders,
  { keys, readInternalCall }: AuthenticateDependencies,
): Promise<Caller> {
  const internal = headers.internal === null ? null : readInternalCall(headers.internal);
  if (internal !== null) {
    headers.properties.push([EVALUATION_PROPERTY, internal.evaluationId]);
    return {
      organizationId: internal.organizationId,
      apiKeyId: null,
      source: 'evaluator',
      rateLimitPolicy: null,
      logsPer5s: null,
      providerKeys: await keys.providerKeysOf(internal.organizationId),
    };
  }
  const token = keyOf(headers);
  if (token === null) {
    throw new AssayError(
      'invalid_api_key',
      'No API key was given: send it as "Authorization: Bearer <key>" or "x-api-key: <key>", or as "Service-Auth: Bearer <key>" beside your own provider key',
    );
  }
  const found = keys.find(token);
  const apiKey = found instanceof Promise ? await found : found;
  if (apiKey === null)
    throw new AssayError(
      'invalid_api_key',
      // Client libraries tell a wrong key from a bad request by OpenAI's own words at the beginning.
      'Incorrect API key provided: it is not known here, or was revoked',
    );
  if (!apiKey.scopes.has('gateway'))
    throw new AssayError('missing_scope', 'The API key lacks the scope "gateway"');
  const { organizationId, keyId, rateLimitPolicy, logsPer5s, providerKeys } = apiKey;
  return { organizationId, apiKeyId: keyId, source: 'gateway', rateLimitPolicy, logsPer5s, providerKeys };
}

function keyOf({ serviceAuth, authorization, xApiKey }: CallHeaders): string | null {
  const bearer = serviceAuth ?? authorization;
  return bearer === null ? xApiKey : bearerToken(bearer);
}
