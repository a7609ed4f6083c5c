/** Finds the caller of a call: by its key, or by the signature of one of our evaluators, of an experiment or of the playground. */
import { AssayError } from '#core/contracts/errors.ts';
import { bearerToken } from '#platform/http-server/mod.ts';
import type { ApiKey, KeyDirectory } from '#platform/keys/mod.ts';
import type { ExperimentCall, InternalCall } from '#platform/secrets/mod.ts';
import type { Caller, CallHeaders } from './call.ts';

/** Reads the header of calls that Assay itself makes; null when nobody of ours signed it so. */
export type SignedCalls = {
  /** The evaluation that a call is made for. */
  evaluationOf(header: string): InternalCall | null;
  /** The experiment that a call is made for. */
  experimentOf(header: string): ExperimentCall | null;
  /** The id of the key that a call of the playground is made with. */
  keyOf(header: string): string | null;
};

/**
 * Makes the function that finds the caller. Of a call whose key is in `Service-Auth`, the other headers carry the caller's
 * own provider key.
 *
 * The returned function throws AssayError invalid_api_key, key_expired, missing_scope or store_unavailable.
 */
export function createAuthenticator(
  keys: Pick<KeyDirectory, 'find' | 'findById' | 'providerKeysOf'>,
  signed: SignedCalls,
): (headers: CallHeaders) => Promise<Caller> {
  async function ownCaller(
    call: { organizationId: string; evaluationId?: string; experimentId?: string },
    source: Caller['source'],
  ): Promise<Caller> {
    const { organizationId, evaluationId = null, experimentId = null } = call;
    return {
      organizationId,
      apiKeyId: null,
      countedAs: null,
      source,
      evaluationId,
      experimentId,
      rateLimitPolicy: null,
      allowed: null,
      logsPer5s: null,
      providerKeys: await keys.providerKeysOf(organizationId),
    };
  }

  return async (headers) => {
    const { internal } = headers;
    const evaluation = internal === null ? null : signed.evaluationOf(internal);
    if (evaluation !== null) return await ownCaller(evaluation, 'evaluator');
    const experiment = internal === null ? null : signed.experimentOf(internal);
    if (experiment !== null) return await ownCaller(experiment, 'experiment');
    const keyId = internal === null ? null : signed.keyOf(internal);
    if (keyId !== null) return callerOf(await keys.findById(keyId), 'playground');
    const token = keyOf(headers);
    if (token === null) {
      throw new AssayError(
        'invalid_api_key',
        'No API key was given: send it as "Authorization: Bearer <key>" or "x-api-key: <key>", or as "Service-Auth: Bearer <key>" beside your own provider key',
      );
    }
    const found = keys.find(token);
    return callerOf(found instanceof Promise ? await found : found, 'gateway');
  };
}

/** Returns the caller that a key is. @param apiKey null: there is no such key */
function callerOf(apiKey: ApiKey | null, source: Caller['source']): Caller {
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
    source,
    evaluationId: null,
    experimentId: null,
    rateLimitPolicy,
    allowed,
    logsPer5s,
    providerKeys,
  };
}

function keyOf({ serviceAuth, authorization, xApiKey }: CallHeaders): string | null {
  const bearer = serviceAuth ?? authorization;
  return bearer === null ? xApiKey : bearerToken(bearer);
}
