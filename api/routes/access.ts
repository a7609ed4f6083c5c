/** Authorization: every group of routes begins with one such instance for each scope that its routes need. */
import { Elysia } from 'elysia';
import { AssayError } from '#core/contracts/errors.ts';
import { bearerToken, rawHeadersOf, requireSingleCredentials } from '#platform/http-server/mod.ts';
import { type ApiKey, type KeyDirectory, requirePath, type Scope } from '#platform/keys/mod.ts';
import { noteActor } from '#platform/postgres/mod.ts';

export type Keys = Pick<KeyDirectory, 'find'>;

/**
 * Creates an instance for routes whose callers need a key with `scope`; its handlers get `key`. Other callers are refused
 * before their body is read.
 * @param tag the group of these routes in the OpenAPI document
 */
export function authorized(keys: Keys, scope: Scope, tag: string) {
  return (
    new Elysia({ detail: { tags: [tag], security: [{ apiKey: [scope] }] } })
      // Elysia parses bodies before anything else. So its parser returns the request unread, and the body's schema reads it
      // later, after the key was checked.
      .onParse(({ request }) => request)
      .derive(async ({ request, path, params }) => {
        const key = await authorize(request, path, keys, scope);
        // A path without parameters has none at all, whatever the type says.
        requireDecoded(params ?? {});
        return { key };
      })
  );
}

/**
 * Refuses a path with a part that is not percent-encoded UTF-8: the router decodes it to null.
 * @throws AssayError invalid_http
 */
function requireDecoded(params: Readonly<Record<string, string | null>>): void {
  if (!Object.values(params).includes(null)) return;
  throw new AssayError('invalid_http', 'The path is not valid percent-encoded UTF-8');
}

/**
 * Finds the key of a call, which must have `scope`. Looks at headers only.
 * @throws AssayError invalid_header, invalid_api_key, key_expired, missing_scope, path_not_allowed, store_unavailable
 */
async function authorize(request: Request, path: string, keys: Keys, scope: Scope): Promise<ApiKey> {
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
  noteActor(key.keyId);
  if (key.allowed !== null) requirePath(key.allowed, [withoutSlash(path)]);
  return key;
}

/** Returns a path as keys are confined to it: `/path/` is `/path`. It is the one that the router has matched, undecoded. */
function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
