/** Authorization: every group of routes begins with one such instance for each scope that its routes need. */
import { Elysia } from 'elysia';
import { AssayError } from '#core/contracts/errors.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import {
  bearerToken,
  rawHeadersOf,
  requireSingleCredentials,
  serverRequestOf,
} from '#platform/http-server/mod.ts';
import { type KeyDirectory, requirePath, type Scope } from '#platform/keys/mod.ts';
import { noteActor, noteReading } from '#platform/postgres/mod.ts';
import type { Caller, LoginService } from '../login/mod.ts';

export type Keys = Pick<KeyDirectory, 'find'> & {
  /** Returns whom the cookie of a call stands for; null: it has none. */
  ofBrowser: LoginService['authenticate'];
};

/**
 * Creates an instance for routes whose callers need a key with `scope`; its handlers get `key`, `session` where a cookie
 * stands for the key, and `admit`, which checks again whether the key may make the call. Other callers are refused before their
 * body is read.
 * @param tag the group of these routes in the OpenAPI document
 * @param options `needsPath: false`: a key that is confined to other paths may call them
 */
export function authorized(keys: Keys, scope: Scope, tag: string, { needsPath = true } = {}) {
  return (
    new Elysia({ detail: { tags: [tag], security: [{ apiKey: [scope] }] } })
      // Elysia parses bodies before anything else. So its parser returns the request unread, and the body's schema reads it
      // later, after the key was checked.
      .onParse(({ request }) => request)
      .derive(async (context) => {
        const { request, path, params } = context;
        context.query = readParameters(request.url);
        const admit = async () => {
          const caller = await findCaller(request, keys, scope);
          const { allowed } = caller.key;
          if (needsPath && allowed !== null) requirePath(allowed, [withoutSlash(path)]);
          return caller;
        };
        const caller = await admit();
        noteCaller(request, caller, scope);
        // A path without parameters has none at all, whatever the type says.
        requireDecoded(params ?? {});
        requireSingle(request.url);
        return { ...caller, admit };
      })
  );
}

/**
 * Returns the parameters in a URL, of a repeated one the first. Elysia's own reading splits texts at commas and parses those that
 * look like JSON.
 */
function readParameters(url: string): Record<string, string> {
  const start = url.indexOf('?');
  if (start === -1) return {};
  return Object.fromEntries(new URLSearchParams(url.slice(start)));
}

/**
 * Refuses a parameter that is given more than once, because only one of its values could count.
 * @throws AssayError invalid_body
 */
function requireSingle(url: string): void {
  const start = url.indexOf('?');
  if (start === -1) return;
  const seen = new Set<string>();
  for (const name of new URLSearchParams(url.slice(start)).keys()) {
    if (seen.has(name)) throw invalidField(name, 'must be given once, but is given more than once');
    seen.add(name);
  }
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
 * @throws AssayError invalid_header, invalid_api_key, key_expired, missing_scope, store_unavailable; those of a cookie
 */
async function findCaller(request: Request, keys: Keys, scope: Scope): Promise<Caller> {
  requireSingleCredentials(rawHeadersOf(request));
  const caller = await callerOf(request, keys);
  if (!caller.key.scopes.has(scope)) {
    throw new AssayError('missing_scope', `This API key lacks the scope ${scope}, which this call needs`);
  }
  return caller;
}

/** Notes who makes a call, for what its work is counted and logged as. */
function noteCaller(request: Request, { key }: Caller, scope: Scope): void {
  noteActor(key.keyId);
  noteReading(scope === 'read');
  serverRequestOf(request).ownBody(key.organizationId);
}

/** Returns whom a call names: by its header, or without one by the cookie of a log-in. */
async function callerOf(request: Request, keys: Keys): Promise<Caller> {
  const header = request.headers.get('authorization');
  const token = bearerToken(header);
  if (token !== null) {
    const key = await keys.find(token);
    if (key === null) throw new AssayError('invalid_api_key', 'This API key is not valid');
    return { key, session: null };
  }
  const caller = header === null ? await keys.ofBrowser(request) : null;
  if (caller !== null) return caller;
  throw new AssayError('invalid_api_key', 'An API key is required: send it as Authorization: Bearer <key>');
}

/** Returns a path as keys are confined to it: `/path/` is `/path`. It is the one that the router has matched, undecoded. */
function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
