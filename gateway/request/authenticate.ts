/** Finds the caller of a call: by its key, or by the signature of one of our evaluators. */
import { AssayError } from '#core/contracts/errors.ts';
import { bearerToken } from '#platform/http-server/mod.ts';
import type { KeyDirectory } from '#platform/keys/mod.ts';
import type { InternalCall } from '#platform/secrets/mod.ts';
import type { Caller, CallHeaders } from './call.ts';

/**
 * Makes the function that finds the caller. Of a call whose key is in `Service-Auth`, the other headers carry the caller's
 * own provider key.
 *
 * The returned function throws AssayError invalid_api_key, key_expired, missing_scope or store_unavailable.
 * @param readInternalCall reads for which evaluation a call is made; null when one of our evaluators did not sign the header
 */
export function createAuthenticator(
  keys: Pick<KeyDirectory, 'find' | 'providerKeysOf'>,
  readInternalCall: (header: string) => InternalCall | null,
): (headers: CallHeaders) => Promise<Caller> {
  return async (headers) => {
    const internal = headers.internal === null ? null : readInternalCall(headers.internal);
    if (internal !== null) {
      return {
        organizationId: internal.organizationId,
        apiKeyId: null,
        countedAs: null,
        source: 'evaluator',
        evaluationId: internal.evaluationId,
        rateLimitPolicy: null,
        allowed: null,
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
    const { organizationId, keyId, countedAs, rateLimitPolicy, allowed, logsPer5s, providerKeys } = apiKey;
    return {
      organizationId,
      apiKeyId: keyId,
      countedAs,
      source: 'gateway',
      evaluationId: null,
      rateLimitPolicy,
      allowed,
      logsPer5s,
      providerKeys,
    };
  };
}

function keyOf({ serviceAuth, authorization, xApiKey }: CallHeaders): string | null {
  const bearer = serviceAuth ?? authorization;
  return bearer === null ? xApiKey : bearerToken(bearer);
}
