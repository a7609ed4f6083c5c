import { AssayError } from '#core/contracts/errors.ts';
import { bearerToken, rawHeadersOf, requireSingleCredentials } from '#platform/http-server/mod.ts';
import type { ApiKey, KeyDirectory, Scope } from '#platform/keys/mod.ts';

/**
 * The key of a call, which must have `scope`. Looks at headers only, so a call is refused before its body is read.
 * @throws AssayError invalid_header, invalid_api_key, missing_scope, store_unavailable
 */
export async function authorize(
  request: Request,
  keys: Pick<KeyDirectory, 'find'>,
  scope: Scope,
): Promise<ApiKey> {
  requireSingleCredentials(rawHeadersOf(request));
  const token = bearerToken(request.headers.get('authorization'));
  if (token === null) {
    throw new AssayError('invalid_api_key', 'An API key is required: send it as Authorization: Bearer <key>');
  }
  const key = await keys.find(token);
  if (key === null) throw new AssayError('invalid_api_key', 'This API key is not valid');
  if (!key.scopes.has(scope)) {
    throw new AssayError('missing_scope', `This API key lacks the scope ${scope}, which this call needs`);
  }
  return key;
}
